"""Loading sets, and the command line over a small set made here."""

import gzip
import json
from pathlib import Path

import pytest

from eval.parsing import sets
from eval.parsing.cli import main
from eval.parsing.ours import groundwire
from eval.parsing.outlines import read_outline
from eval.parsing.sets import SETS, load_set
from tests.support.documents import MARKDOWN, pdf

PAGES = [[(20.0, "Pump manual"), (11.0, "Operators read this first.")]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "parsing" / "opendataloader-rerendered"
    (folder / "pdfs").mkdir(parents=True)
    (folder / "ground-truth").mkdir()
    (folder / "pdfs" / "1.pdf").write_bytes(pdf(PAGES))
    (folder / "ground-truth" / "1.md").write_text("# Pump manual\n\nOperators read this first.\n")
    (folder / "ground-truth" / "2.md").write_text("a page without its PDF")
    return tmp_path / "data"


def test_a_set_that_is_not_there_says_so(tmp_path: Path) -> None:
    for name in SETS:
        if name != "manuals":
            loaded = load_set(name, tmp_path, tmp_path)
            assert loaded.cases == []
            assert loaded.skipped == [f"{name}: no such folder below the data folder"]


def test_the_data_folder_may_be_the_sets_own_or_its_parent(data: Path, tmp_path: Path) -> None:
    for folder in (data, data / "parsing"):
        (case,) = load_set("opendataloader-rerendered", folder, tmp_path).cases
        assert case.name == "1.pdf"
        assert case.truth.markdown is not None


def test_tables_with_spans_and_whether_they_are_ruled(tmp_path: Path) -> None:
    folder = tmp_path / "icdar2013-tables"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(pdf(PAGES))
    cells = [
        {"r0": 0, "c0": 0, "r1": 0, "c1": 1, "text": "h", "bbox": [70, 700, 90, 710]},
        {"r0": 1, "c0": 0, "r1": 1, "c1": 0, "text": "a", "bbox": [70, 680, 80, 690]},
    ]
    entry = {"pdf": "a.pdf", "tables": [{"pages": [1], "cells": cells}]}
    gone = {"pdf": "gone.pdf", "tables": []}
    (folder / "gt.jsonl").write_text(json.dumps(entry) + "\n\n" + json.dumps(gone) + "\n")
    (case,) = load_set("icdar2013-tables", tmp_path, tmp_path).cases
    assert case.truth.tables is not None
    assert [(c.column_span, c.row_span) for c in case.truth.tables[0].cells] == [(2, 1), (1, 1)]
    assert case.truth.ruled == (False,)


def test_assertions_of_both_kinds(tmp_path: Path) -> None:
    for name, entry in (
        ("tika-asserted", {"file": "a.txt", "present_text": ["x"], "absent_xhtml": ["<b>"]}),
        ("markitdown", {"file": "a.txt", "present": ["x"], "absent": ["y"]}),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.txt").write_text("x")
        (folder / "assertions.jsonl").write_text(json.dumps(entry))
        (case,) = load_set(name, tmp_path, tmp_path).cases
        assert case.truth.strings is not None
        assert case.truth.strings.present == ("x",)


def test_manuals_are_parsed_without_the_outline_that_is_their_truth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manual = tmp_path / "manual.pdf.gz"
    manual.write_bytes(gzip.compress(_with_outline(25)))
    monkeypatch.setattr(
        sets, "_package_files", lambda package: [manual] if package == "octave-doc" else []
    )
    loaded = load_set("manuals", tmp_path, tmp_path)
    (case,) = loaded.cases
    assert case.name == "octave-doc/manual.pdf"
    assert case.truth.outline is not None
    assert [(h.text, h.level, h.page) for h in case.truth.outline][:2] == [
        ("T 0", 1, 1),
        ("T 1", 1, 1),
    ]
    assert read_outline(case.path) == []
    assert len(loaded.skipped) == len(sets.MANUAL_PACKAGES) - 1
    assert "apt-get install debian-policy" in loaded.skipped[0]


def _with_outline(entries: int) -> bytes:
    """The small PDF with so many outline entries, all to its first page."""
    data = pdf(PAGES)
    body, _, _ = data.partition(b"xref\n")
    body = body.replace(b"/Type /Catalog", b"/Type /Catalog /Outlines 100 0 R")
    parts = [
        b"100 0 obj\n<< /Type /Outlines /First 101 0 R /Last %d 0 R >>\nendobj\n" % (100 + entries)
    ]
    for i in range(entries):
        after = b"/Next %d 0 R " % (102 + i) if i < entries - 1 else b""
        parts.append(
            b"%d 0 obj\n<< /Title (T %d) /Parent 100 0 R %s/Dest [3 0 R /Fit] >>\nendobj\n"
            % (101 + i, i, after)
        )
    return body + b"".join(parts) + b"trailer << /Root 1 0 R >>\n%%EOF\n"


def test_the_command_writes_the_summary(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["--engine", "peer:pypdfium2", "--data", str(data), "--out", str(out), "--sets",
                 "opendataloader-rerendered", "--keep"]  # fmt: skip
    assert main(arguments) == 0
    summary = json.loads((out / "parse_summary.json").read_text())
    assert summary["engine"] == "pypdfium2"
    assert 0.9 < summary["metrics"]["nid"] < 1.0, "all but the mark of the heading"
    assert set(summary["by_file"]) == {"opendataloader-rerendered/1.pdf"}


def test_nothing_to_measure_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path), "--sets", "markitdown"]) == 2
    assert "nothing to measure" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--sets", "nothing"], ["--peers", "nobody"]])
def test_an_unknown_name_is_refused_with_the_known_ones(
    option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--data", ".", *option])
    assert stopped.value.code == 2
    assert "known are" in capsys.readouterr().err


async def test_the_parser_under_test_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "manual.md"
    path.write_text(MARKDOWN)
    async with groundwire(1) as engine:
        parsed = await engine.read(path)
    assert [h.text for h in parsed.headings][:2] == ["Pump manual", "Installation"]
    assert len(parsed.tables) == 1
    assert "Torque each to 45 Nm." in parsed.markdown
