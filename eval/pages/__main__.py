"""Make the long documents of `eval/pages.yaml` and their questions with page truth.

The annual reports are invented; the books are KorQuAD's paragraphs, where its folder is given;
manuals are PDFs of packages, where a folder of them is given. Needs LibreOffice, and a Korean
font for the Korean ones.
"""

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from eval.pages.annual import Report
from eval.pages.books import Pages, books
from eval.pages.english import ENGLISH
from eval.pages.korean import KOREAN
from eval.pages.paper import print_pdf
from eval.pages.wording import Wording
from eval.retrieval.pages import page_texts

DATA = Path(__file__).resolve().parents[1] / "data"
ASKED_IN_BOOKS = 160


def main() -> None:
    """Read the arguments, write the documents and questions."""
    parser = argparse.ArgumentParser(prog="python -m eval.pages", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("reports/pages"))
    parser.add_argument("--korquad", type=Path, help="folder with KorQuAD's JSON")
    parser.add_argument("--manuals", type=Path, help="folder with the PDFs of pages-manuals.yaml")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for wording in (ENGLISH, KOREAN):
        write_report(wording, options.out)
    if options.korquad is not None:
        write_books(options.korquad, options.out)
    if options.manuals is not None:
        copy_manuals(options.manuals, options.out)


def write_report(wording: Wording, out: Path) -> None:
    """`annual-<language>.pdf` and `.yaml`."""
    report = Report(wording)
    target = out / f"annual-{wording.language}.pdf"
    print_pdf(report.write(), target, bookmarks=wording.language == "ko")
    pages = page_texts(target)
    cases: list[dict[str, Any]] = []
    for number, (query, fact) in enumerate(report.questions(), 1):
        found = [page for page, text in enumerate(pages, 1) if fact.value in text.split()]
        cases.append(
            _case(f"{fact.kind}-{number}", fact.kind, wording.language, query)
            | {"pages": {target.name: found}}
        )
    for number, query in enumerate(wording.unanswerable, 1):
        case = _case(f"none-{number}", "unanswerable", wording.language, query)
        cases.append(case | {"abstain": True})
    _write(out / f"annual-{wording.language}.yaml", [target.name], cases)


def write_books(folder: Path, out: Path) -> None:
    """`book-<n>.pdf`, `books.yaml` with questions of the set, and `colloquial.yaml` with our
    own, which name the set's question that is answered at the same place."""
    (source,) = sorted(folder.glob("*.json"))
    listed = folder / "question-ids.txt"
    wanted = set(listed.read_text("utf-8").split()) if listed.is_file() else None
    files: list[str] = []
    places: dict[str, tuple[str, dict[str, list[int]]]] = {}
    for number, (paper, questions) in enumerate(books(source), 1):
        target = out / f"book-{number}.pdf"
        print_pdf(paper, target, bookmarks=bool(number % 2))
        files.append(target.name)
        pages = Pages(page_texts(target))
        for question in questions:
            page = pages.of(question)
            if page is not None and (wanted is None or question.question_id in wanted):
                places[question.question_id] = question.text, {target.name: [page]}
    asked = list(places.items())
    step = max(1, len(asked) // ASKED_IN_BOOKS)
    cases = [
        _case(question_id, "book", "ko", text) | {"pages": where}
        for question_id, (text, where) in asked[::step]
    ]
    _write(out / "books.yaml", files, cases)
    own: list[dict[str, Any]] = yaml.safe_load((DATA / "pages-colloquial.yaml").read_text("utf-8"))
    for case in own:
        if (like := case.pop("like", None)) is not None:
            case["pages"] = places[like][1]
    _write(out / "colloquial.yaml", files, own)


def copy_manuals(folder: Path, out: Path) -> None:
    """The manuals that the questions name, and the questions."""
    source = DATA / "pages-manuals.yaml"
    shutil.copy(source, out / "manuals.yaml")
    for name in yaml.safe_load(source.read_text("utf-8"))["documents"]:
        shutil.copy(folder / name, out / name)


def _case(case_id: str, group: str, language: str, query: str) -> dict[str, Any]:
    return {"id": case_id, "group": group, "language": language, "query": query}


def _write(target: Path, documents: Sequence[str], cases: Sequence[dict[str, Any]]) -> None:
    content = {"documents": list(documents), "cases": list(cases)}
    target.write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), "utf-8")


if __name__ == "__main__":
    main()
