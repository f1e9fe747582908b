"""Measure entry search: `python eval/run_entries.py [--entries CSV --questions CSV]`."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

PARAGRAPHS = 464


def main(arguments: list[str]) -> int:
    """Check the questions against what is indexed, start a stack, measure, write `entries.json`,
    `entries.md` and `entries.xlsx`, print the tables. Exit code 1 for a leak."""
    from eval.entries import paragraphs

    data = Path(__file__).parent / "data"
    parser = argparse.ArgumentParser(description="measure entry search through the services")
    parser.add_argument("--entries", type=Path, default=data / "entries-app-ko.csv")
    parser.add_argument("--questions", type=Path, default=data / "entries-app-ko-questions.csv")
    parser.add_argument("--paragraphs", type=Path, help="KorQuAD or SQuAD, paragraphs as entries")
    parser.add_argument("--without", type=float, default=0.33, help="share of words left out of it")
    parser.add_argument("--samples", type=Path, help="sample questions for the query index")
    parser.add_argument("--size", type=int, help="so many questions, chosen by strata")
    parser.add_argument("--grid", action="store_true", help="measure the grid of weights too")
    parser.add_argument("--out", type=Path, default=Path("reports"), help="folder of the report")
    parser.add_argument("--write-docs", action="store_true", help="update docs/quality-entries.md")
    given = parser.parse_args(arguments)
    if given.paragraphs is None:
        return _run(given)
    with tempfile.TemporaryDirectory() as made:
        given.entries, given.questions = paragraphs.write(
            given.paragraphs, Path(made), entries=PARAGRAPHS, questions=given.size or PARAGRAPHS,
            without=given.without,
        )  # fmt: skip
        return _run(given)


def _run(given: argparse.Namespace) -> int:
    from eval.entries import measure, report, sets, tokenizers
    from eval.retrieval.services import stack

    rows, samples = sets.read(given.entries), []
    if given.samples is not None:
        samples = sets.read_questions(given.samples)
    counts = {row["id"]: int(row.get("search_count") or 0) for row in rows}
    questions = sets.read_questions(given.questions)
    questions = sets.choose(questions, counts, given.size or len(questions))
    leaked = sets.leaks(questions, sets.indexed_texts(rows, samples))
    if leaked:
        for leak in leaked:
            print(f"leak: {leak.question!r} is {leak.indexed!r} ({leak.likeness})")
        return 1
    models = measure.with_models()
    settings = {
        **measure.SETTINGS,
        **{name: weights for name, weights in models.items() if weights is not None},
        **(measure.GRID if given.grid else {}),
    }
    files = measure.Files(given.entries, given.samples)
    with stack(None, {}) as running:
        thirds = sets.buckets(counts) if any(counts.values()) else {}
        run = measure.measure(running, files, questions, thirds, settings)
        cases = asyncio.run(run)
    absent = [name for name, weights in models.items() if weights is None]
    found = report.report_of(len(rows), cases, absent, tokenizers.ablation(rows, questions))
    report.write(found, cases, given.out)
    if given.write_docs:
        docs = Path(__file__).parent.parent / "docs" / "quality-entries.md"
        report.into_docs(docs, given.entries.stem, report.markdown(found))
    print(report.markdown(found), end="")
    return 0


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    sys.exit(main(sys.argv[1:]))
