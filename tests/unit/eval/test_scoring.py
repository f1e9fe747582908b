"""Figures of files, sets and the summary."""

from pathlib import Path

import pytest

from eval.parsing.model import Case, FoundHeading, FoundTable, Parsed, Score, Strings, Truth
from eval.parsing.quality import render
from eval.parsing.run import Run, run
from eval.parsing.scoring import score
from eval.parsing.summary import headline, set_metrics, summarise, worst
from eval.parsing.tables import cells_html, grid_cells

HERE = Path("somewhere.pdf")


def table(*rows: list[str]) -> FoundTable:
    cells = grid_cells(rows)
    return FoundTable(frozenset({1}), cells, cells_html(cells))


def case(set_name: str = "set", name: str = "a.pdf", **truth: object) -> Case:
    return Case(set_name, name, HERE, Truth(**truth))  # type: ignore[arg-type]


def test_markdown_is_scored_by_text_first_table_and_headings() -> None:
    text = "# A\n\n<table><tr><td>x</td></tr></table>\n\nend"
    done = score(case(markdown=text), Parsed(markdown=text, pages=2, seconds=3.0))
    assert done.metrics == {"seconds_per_page": 1.5, "nid": 1.0, "mhs": 1.0, "teds": 1.0}


def test_pages_without_tables_or_headings_have_no_such_score() -> None:
    done = score(case(markdown="text"), Parsed(markdown="text"))
    assert set(done.metrics) == {"seconds_per_page", "nid"}


def test_a_table_that_is_not_found_scores_zero() -> None:
    truth = "<table><tr><td>x</td></tr></table>"
    done = score(case(markdown=truth), Parsed(markdown="x"))
    assert done.metrics["teds"] == 0.0
    assert "0 tables instead of 1" in done.notes


def test_tables_are_counted_by_kind() -> None:
    truth = (table(["a", "b"], ["c", "d"]), table(["x", "y"]))
    parsed = Parsed(tables=(truth[0], table(["no", "table"])))
    done = score(case(tables=truth, ruled=(True, False)), parsed)
    assert done.metrics["cell_precision"] == pytest.approx(4 / 5)
    assert done.metrics["cell_recall"] == pytest.approx(4 / 5)
    assert (done.counts["ruled_recall"], done.counts["other_recall"]) == (1.0, 0.0)
    assert done.counts["teds"] == 1.0
    assert done.notes == ["page 1: other table with recall 0.00", "1 false tables"]


def test_a_file_that_was_not_read_scores_zero_in_everything_that_is_asked() -> None:
    asked = case(
        markdown="# A", tables=(table(["a", "b"]),), ruled=(True,),
        strings=Strings(present=("x",)), outline=(FoundHeading("A", 1, 1),),
    )  # fmt: skip
    done = score(asked, Parsed(problem="unreadable: broken"))
    assert done.counts["failed"] == 1
    assert not any(done.metrics.values())
    assert done.notes[0] == "not read: unreadable: broken"


def test_a_protected_file_is_read_well_when_it_is_refused() -> None:
    name = "pdf_password/sources/a.pdf"
    refused = Parsed(problem="encrypted: the PDF is protected by a password")
    assert score(case("docling-tests", name), refused).metrics["read"] == 1.0
    assert score(case("docling-tests", "docx/a.docx"), refused).metrics["read"] == 0.0
    assert score(case("docling-tests", name), Parsed(problem="crash")).metrics["read"] == 0.0


def test_a_file_without_text_is_not_read() -> None:
    assert score(case("docling-tests"), Parsed(markdown=" \n")).metrics["read"] == 0.0


def scored(name: str, metrics: dict[str, float], **counts: float) -> Score:
    return Score("icdar2013-tables", name, metrics, {"files": 1, **counts})


def test_cell_f1_is_the_f_of_means_and_pooled_the_f_of_sums() -> None:
    scores = [
        scored("a", {"cell_precision": 1.0, "cell_recall": 0.5}, shared=1, predicted=1, expected=2,
               tables=1, predicted_tables=1, ruled_tables=1, ruled_recall=0.5, teds=0.5),
        scored("b", {"cell_precision": 0.5, "cell_recall": 1.0}, shared=9, predicted=18,
               expected=9, tables=2, predicted_tables=3, other_tables=2, other_recall=2.0,
               teds=2.0),
    ]  # fmt: skip
    figures = set_metrics("icdar2013-tables", scores)
    assert figures["cell_f1"] == pytest.approx(0.75)
    precision, recall = 10 / 19, 10 / 11
    assert figures["cell_f1_pooled"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert figures["teds"] == pytest.approx(2.5 / 3)
    assert (figures["ruled_recall"], figures["other_recall"]) == (0.5, 1.0)


def test_a_mean_is_over_the_files_that_have_the_figure() -> None:
    scores = [Score("s", "a", {"mhs": 0.5}), Score("s", "b", {"mhs": 1.0}), Score("s", "c", {})]
    assert set_metrics("s", scores)["mhs"] == 0.75


def test_the_worst_come_first_and_perfect_files_not_at_all() -> None:
    scores = [Score("s", n, {"nid": v}) for n, v in (("a", 0.9), ("b", 0.1), ("c", 1.0))]
    assert [s.name for s in worst(scores, "nid")] == ["b", "a"]


class Scripted:
    """Reads what it was told, or raises it."""

    def __init__(self, *answers: Parsed | Exception) -> None:
        self.answers = list(answers)

    async def read(self, path: Path) -> Parsed:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Here:
    """Scores in this process."""

    async def score(self, case: Case, parsed: Parsed) -> Score:
        return score(case, parsed)


async def test_an_engine_that_fails_on_a_file_goes_on_with_the_next(tmp_path: Path) -> None:
    cases = [case(name="a.pdf", markdown="x"), case(name="sub/b.pdf", markdown="x")]
    engine = Scripted(ValueError("it broke\nbadly"), Parsed(markdown="x"))
    told: list[str] = []
    done = await run(
        "fake", engine, {"set": cases}, Here(), keep=tmp_path,
        tell=lambda name, s: told.append(s.name),
    )  # fmt: skip
    assert [s.metrics["nid"] for s in done.scores["set"]] == [0.0, 1.0]
    assert done.scores["set"][0].notes == ["not read: it broke badly"]
    assert told == ["a.pdf", "sub/b.pdf"]
    assert (tmp_path / "fake/set/sub/b.pdf.md").read_text() == "x"


def whole_summary() -> dict[str, object]:
    redrawn = Score("opendataloader-rerendered", "a.pdf", {"nid": 0.961234, "mhs": 0.5})
    asserted = Score(
        "tika-asserted", "a.doc", {"strings_found": 0.0},
        {"present": 0, "present_of": 1, "absent": 0, "absent_of": 0}, ["missing: a | b"],
    )  # fmt: skip
    file = Score("docling-tests", "docx/a.docx", {"read": 1.0}, {}, ["paragraph 3"])
    ours = Run(
        "groundwire",
        {s.set_name: [s] for s in (redrawn, asserted, file)},
    )
    guard = Run("hidden", {redrawn.set_name: [Score(redrawn.set_name, "a.pdf", {"mhs": 0.4})]})
    return summarise(
        ours, [Run("other", {redrawn.set_name: [redrawn]})], versions={"lib": "1"},
        absent={"gone": "not installed: pip install gone"}, skipped=["manuals: no"], guard=guard,
    )  # fmt: skip


def test_the_summary_has_the_fixed_keys_and_the_same_by_file() -> None:
    summary = whole_summary()
    assert summary["metrics"] == {
        "nid": 0.9612, "mhs": 0.5, "strings_found": 0.0, "strings_settled": 0.0, "read": 1.0,
        "mhs_weight_hidden": 0.4
    }  # fmt: skip
    by_file = summary["by_file"]
    assert isinstance(by_file, dict)
    assert by_file["opendataloader-rerendered/a.pdf"] == {"nid": 0.9612, "mhs": 0.5, "notes": []}


def test_the_headline_names_only_what_was_measured() -> None:
    assert headline({}) == {}
    assert headline({"manuals": {"heading_recall": 0.9}}) == {"heading_recall": 0.9}


def test_the_document_shows_bars_peers_misses_and_what_was_left_out() -> None:
    text = render(whole_summary())
    lines = text.splitlines()
    nid = next(line for line in lines if "| NID |" in line)
    assert "**.961**" in nid
    assert "(below)" not in nid
    assert "(below)" in next(line for line in lines if "| MHS |" in line)
    assert "not measured" in next(line for line in lines if "| manuals | heading recall |" in line)
    assert "| tika-asserted/a.doc | missing | `a \\| b` | **open** |" in lines
    assert "| docx/a.docx | yes | paragraph 3 |" in lines
    assert "* gone: not installed: pip install gone" in lines
    assert "* manuals: no" in lines


def test_a_miss_that_a_user_would_accept_is_settled_and_still_a_miss() -> None:
    asked = case(
        "tika-asserted", "testDdeLink.xlsx", strings=Strings(present=("cmd|", "shown", "lost"))
    )
    other = case("tika-asserted", "other.xlsx", strings=Strings(present=("cmd|",)))
    scores = [score(asked, Parsed(markdown="shown")), score(other, Parsed())]
    figures = set_metrics("tika-asserted", scores)
    assert figures["strings_found"] == pytest.approx(1 / 4)
    assert figures["strings_settled"] == pytest.approx(3 / 4)
