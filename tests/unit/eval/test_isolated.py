"""Metrics and other parsers in children: whatever one file costs, the run goes on."""

from dataclasses import replace
from pathlib import Path

import pytest

from eval.parsing.isolated import LIMITS, dump_parsed, isolated, load_parsed, scorer
from eval.parsing.model import Case, FoundHeading, FoundTable, Parsed, Strings, Truth
from eval.parsing.peers import PEERS
from eval.parsing.scoring import score
from eval.parsing.tables import cells_html, grid_cells
from libs.contracts.faults import Code, DocumentFault


def table(rows: int) -> FoundTable:
    cells = grid_cells([[f"row {i}", str(i)] for i in range(rows)])
    return FoundTable(frozenset({1}), cells, cells_html(cells))


def case(*tables: FoundTable) -> Case:
    truth = Truth(
        markdown="# A", tables=tables, ruled=(True,) * len(tables),
        strings=Strings(present=("x",)), outline=(FoundHeading("A", 1, 1),),
    )  # fmt: skip
    return Case("set", "a.pdf", Path("/a.pdf"), truth)


def test_what_was_parsed_comes_back_as_it_went() -> None:
    parsed = Parsed("# A", "b", (table(2),), (FoundHeading("A", 1, 2),), {"heading": 1}, 3, 0.5)
    assert load_parsed(dump_parsed(parsed)) == parsed


async def test_a_score_from_a_child_is_the_score(tmp_path: Path) -> None:
    parsed = Parsed("# A\n\nx", tables=(table(3),), headings=(FoundHeading("A", 1, 1),))
    async with scorer(tmp_path, 1) as scores:
        assert await scores.score(case(table(3)), parsed) == score(case(table(3)), parsed)


async def test_trees_too_large_for_their_distance_are_a_miss(tmp_path: Path) -> None:
    huge = table(2000)
    async with scorer(tmp_path, 1, replace(LIMITS, memory_mb=256)) as scores:
        done = await scores.score(case(huge), Parsed("# A\n\nx", tables=(huge,)))
        again = await scores.score(case(table(3)), Parsed("# A\n\nx", tables=(table(3),)))
    assert (done.counts["failed"], done.metrics["cell_recall"]) == (1, 0.0)
    assert "256 MB" in done.notes[0]
    assert again.counts["failed"] == 0


async def test_a_peer_reads_in_a_child_and_fails_there(tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 and no more")
    async with isolated(PEERS["pypdfium2"], tmp_path) as peer:
        with pytest.raises(DocumentFault) as caught:
            await peer.read(broken)
    assert caught.value.code is Code.UNREADABLE
