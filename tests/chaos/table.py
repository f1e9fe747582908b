"""The table of cases and results in `docs/reliability.md`."""

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- chaos: begin -->", "<!-- chaos: end -->"
HEAD = ["| what is done | to | result |", "| --- | --- | --- |"]
NOT_YET = "not run yet"

Case = tuple[str, str]

_cases: list[Case] = []
_results: dict[Case, str] = {}


def expect(cases: list[Case]) -> None:
    """Further cases of the suite, in the order of the table: (what is done, to whom)."""
    _cases.extend(cases)


def note(case: Case, result: str) -> None:
    """How a case ended."""
    _results[case] = result


def read(text: str) -> dict[Case, str]:
    """The results in a table of an earlier run."""
    cells = [line.strip("| ").split(" | ") for line in text.splitlines()]
    return {(row[0], row[1]): row[2] for row in cells if len(row) == 3}


def write(page: Path = PAGE) -> None:
    """Put the results of this run into the page; cases that were not run keep their last one."""
    if not _results:
        return
    before, _, rest = page.read_text().partition(BEGIN)
    table, _, after = rest.partition(END)
    found = {**read(table), **_results}
    lines = [f"| {what} | {whom} | {found.get((what, whom), NOT_YET)} |" for what, whom in _cases]
    page.write_text("\n".join([before + BEGIN, "", *HEAD, *lines, "", END + after]))
