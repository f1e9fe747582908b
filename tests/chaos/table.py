"""The table of cases and results in `docs/reliability.md`."""

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- chaos: begin -->", "<!-- chaos: end -->"

_expected: list[tuple[str, str]] = []
_results: dict[tuple[str, str], str] = {}


def expect(cases: list[tuple[str, str]]) -> None:
    """All cases of a whole run, in the order of the table: (what is done, to whom)."""
    _expected[:] = cases


def note(case: tuple[str, str], result: str) -> None:
    """How a case ended."""
    _results[case] = result


def lines() -> list[str]:
    """The table, in Markdown."""
    found = ["| what is done | to | result |", "| --- | --- | --- |"]
    return found + [f"| {what} | {whom} | {_results[what, whom]} |" for what, whom in _expected]


def write(page: Path = PAGE) -> bool:
    """Put the table into the page when every case has a result; returns whether it did."""
    if not _expected or any(case not in _results for case in _expected):
        return False
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text("\n".join([before + BEGIN, "", *lines(), "", END + after]))
    return True
