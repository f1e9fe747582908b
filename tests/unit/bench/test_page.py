"""The page of figures holds what was measured last, part by part."""

from pathlib import Path

import pytest

from bench import page
from bench.measure import Figure


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(page, "FIGURES", tmp_path / "figures.json")
    monkeypatch.setattr(page, "PAGE", tmp_path / "speed.md")
    return tmp_path


def test_a_second_run_replaces_its_own_part_and_leaves_the_others(folder: Path) -> None:
    page.write({"search": [Figure("p95", "9 ms", "3 ms", 3.0, "<= 2")]})
    page.write({"start": [Figure("start", "4 s")]})
    page.write({"search": [Figure("p95", "5 ms", "4 ms", 1.25, "<= 2")]})
    text = (folder / "speed.md").read_text()
    assert "| p95 | 5 ms | 4 ms | 1.25 | <= 2 |" in text
    assert "| start | 4 s |  |  |  |" in text
    assert "9 ms" not in text
    assert text.index("## Start and memory") < text.index("## Search")


def test_the_committed_page_is_that_of_the_committed_figures() -> None:
    assert Path("docs/speed.md").read_text() == page.render(page.kept())
