"""Measure entry search: `python eval/run_entries.py [--entries CSV --questions CSV]`."""

import argparse
import asyncio
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Start a stack, measure, write `entries.json` and `entries.md`, print the table."""
    from eval.retrieval.entries import markdown, measure, write
    from eval.retrieval.services import stack

    data = Path(__file__).parent / "data"
    parser = argparse.ArgumentParser(description="measure entry search through the services")
    parser.add_argument("--entries", type=Path, default=data / "entries-app-ko.csv")
    parser.add_argument("--questions", type=Path, default=data / "entries-app-ko-questions.csv")
    parser.add_argument("--out", type=Path, default=Path("reports"), help="folder of the report")
    given = parser.parse_args(arguments)
    with stack(None, {}) as running:
        report = asyncio.run(measure(running, given.entries, given.questions))
    write(report, given.out)
    print(markdown(report), end="")
    return 0


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    sys.exit(main(sys.argv[1:]))
