"""The table of cases and results in `docs/reliability.md`."""

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- chaos: begin -->", "<!-- chaos: end -->"
HEAD = ["| what is done | to | result |", "| --- | --- | --- |"]
NOT_YET = "not run yet"

Case = tuple[str, str]

_results: dict[Case, str] = {}


def note(case: Case, result: str) -> None:
    """How a case ended."""
    _results[case] = result


def read(text: str) -> dict[Case, str]:
    """The results in a table of an earlier run."""
    cells = [line.strip("| ").split(" | ") for line in text.splitlines()]
    return {(row[0], row[1]): row[2] for row in cells if len(row) == 3}


def write(cases: list[Case], page: Path = PAGE) -> None:
    """Put the results of this run into the page, in the order of all `cases` of the suite; those
    that were not run keep their last one."""
    if not _results:
        return
    before, _, rest = page.read_text().partition(BEGIN)
    table, _, after = rest.partition(END)
    found = {**read(table), **_results}
    lines = [f"| {what} | {whom} | {found.get((what, whom), NOT_YET)} |" for what, whom in cases]
    page.write_text("\n".join([before + BEGIN, "", *HEAD, *lines, "", END + after]))
