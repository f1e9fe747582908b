"""Program text sent as a plain file keeps its lines."""

from pathlib import Path

import pytest

from tests.support.parsing import parse_path


@pytest.mark.parametrize("name", ["ask.py", "run.SH", "settings.yaml"])
def test_lines_and_indentation_stay(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("if ready:\n    go(1)\n    stop()\n\nend = True\n")
    rows = parse_path(path, "txt").rows
    assert [(r.kind, r.text) for r in rows] == [
        ("code", "if ready:\n    go(1)\n    stop()"),
        ("code", "end = True"),
    ]
