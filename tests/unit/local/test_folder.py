"""The data folder: its lock, the key, the notes of services, and the logs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.local.folder import DataFolder, FolderTaken
from deploy.local.key import key_record, local_key
from deploy.local.logs import ErrorTail, last_lines, rotate
from libs.client.connection import find_connection
from libs.runtime.settings import Settings


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    made = DataFolder(tmp_path / "data")
    made.make()
    return made


def settings(folder: DataFolder, **given: str) -> Settings:
    return Settings(_env_file=None, data_dir=folder.root, **given)


def test_the_folder_is_for_this_user_alone(folder: DataFolder) -> None:
    for path in (folder.root, folder.run, folder.logs, folder.nats):
        assert path.stat().st_mode & 0o077 == 0


def test_a_second_claim_names_the_first_holder(folder: DataFolder) -> None:
    with folder.lock("http://127.0.0.1:8099"), pytest.raises(FolderTaken) as taken:
        folder.lock("http://127.0.0.1:8100")
    assert str(os.getpid()) in str(taken.value)
    assert "http://127.0.0.1:8099" in str(taken.value)
    assert "GROUNDWIRE_DATA_DIR" in str(taken.value)


def test_a_claim_ends_with_its_process(folder: DataFolder) -> None:
    claim = f"""
from pathlib import Path
from deploy.local.folder import DataFolder
held = DataFolder(Path({str(folder.root)!r})).lock("http://127.0.0.1:1")
"""
    subprocess.run([sys.executable, "-c", claim], check=True)
    with folder.lock("http://127.0.0.1:2"):
        assert json.loads((folder.run / "lock").read_text())["pid"] == os.getpid()


def test_notes_of_services_are_read_and_broken_ones_ignored(folder: DataFolder) -> None:
    (folder.run / "parser.json").write_text('{"pid": 41, "probe_port": 5001}')
    (folder.run / "chunker.json").write_text("[")
    assert folder.noted("parser") == (41, 5001)
    assert folder.noted("chunker") is None
    assert folder.noted("gateway") is None
    folder.forget_runs()
    assert folder.noted("parser") is None


def test_the_local_key_is_made_once_and_readable_for_this_user_alone(folder: DataFolder) -> None:
    first = local_key(settings(folder), folder)
    assert first.startswith("gw_")
    assert len(first) == len("gw_") + 32
    assert local_key(settings(folder), folder) == first
    assert folder.key_file.stat().st_mode & 0o777 == 0o600


def test_a_given_key_wins_and_is_not_written_down(folder: DataFolder) -> None:
    assert local_key(settings(folder, api_key="mine"), folder) == "mine"
    assert not folder.key_file.exists()


def test_the_key_is_stored_hashed_under_a_stable_id() -> None:
    record = key_record("gw_secret", "default")
    assert "secret" not in record.secret_hash
    assert record.key_id == key_record("gw_secret", "default").key_id
    assert record.key_id != key_record("gw_other", "default").key_id
    assert (record.role, record.namespace) == ("admin", "default")


def test_the_client_finds_what_the_stack_left(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.root)
    for name in ("URL", "HTTP_PORT", "API_KEY", "NAMESPACE"):
        monkeypatch.delenv(f"GROUNDWIRE_{name}", raising=False)
    monkeypatch.setenv("GROUNDWIRE_DATA_DIR", str(folder.root))
    key = local_key(settings(folder), folder)
    with folder.lock("http://127.0.0.1:8099"):
        found = find_connection()
    assert (found.url, found.key, found.namespace) == ("http://127.0.0.1:8099", key, "default")
    monkeypatch.setenv("GROUNDWIRE_HTTP_PORT", "9000")
    assert find_connection().url == "http://127.0.0.1:9000"
    assert find_connection("http://there/", "other").url == "http://there"
    assert find_connection("http://there/", "other").key == "other"


def test_a_large_log_is_moved_aside_and_three_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "parser.log"
    for number in range(5):
        log.write_text(f"{number}" * 100)
        rotate(log, max_bytes=50)
        assert log.read_text() == ""
    assert [Path(f"{log}.{n}").read_text()[0] for n in (1, 2, 3)] == ["4", "3", "2"]
    assert not Path(f"{log}.4").exists()
    log.write_text("small")
    rotate(log, max_bytes=50)
    assert log.read_text() == "small"


def test_an_error_is_told_once_and_other_lines_are_not(tmp_path: Path) -> None:
    log = tmp_path / "parser.log"
    log.write_text('{"level": "error", "event": "before the start"}\n')
    said: list[str] = []
    tail = ErrorTail({"parser": log}, said.append)
    with log.open("a") as file:
        file.write('{"level": "info", "event": "fine"}\n')
        file.write('{"level": "error", "event": "store away", "error": "OSError"}\n' * 3)
        file.write('no json\n{"level": "error", "event": "half')
    tail.look()
    tail.look()
    assert said == [f"parser: store away (OSError), see {log}"]
    with log.open("a") as file:
        file.write(' a line"}\n')
    tail.look()
    assert len(said) == 2
    assert "half a line" in said[1]
    assert last_lines(log, 1) == ['{"level": "error", "event": "half a line"}']
