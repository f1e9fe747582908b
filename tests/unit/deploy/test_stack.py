"""The stack of real servers as its commands see it; the servers themselves are in `tests/stack`."""

from pathlib import Path

import pytest

from deploy.stack import up


def test_clear_removes_the_data_of_this_stack_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, own = tmp_path / up.DATA_DIR, tmp_path / "own"
    for folder in (other, own):
        (folder / "servers" / "postgres").mkdir(parents=True)
        (folder / "services").mkdir()
    (own / "notes.txt").write_text("mine")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_DATA_DIR", str(own))
    assert up.main(["clear"]) == 0
    assert [path.name for path in own.iterdir()] == ["notes.txt"]
    assert (other / "servers" / "postgres").is_dir()


def test_what_is_no_command_is_told_with_those_that_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert up.main(["destroy"]) == 2
    assert "up|provision|missing|clear" in capsys.readouterr().err
