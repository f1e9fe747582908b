"""The doctor: what it finds, what it advises, and when it fails."""

import json
import os
import socket
from pathlib import Path

import pytest

from deploy.local import doctor, nats
from deploy.local.folder import DataFolder
from deploy.local.ports import LOOPBACK, free_port
from libs.contracts.subjects import Stage
from libs.runtime.settings import Settings


def examine(folder: Path, **given: object) -> tuple[int, str]:
    said: list[str] = []
    settings = Settings(_env_file=None, data_dir=folder, http_port=free_port(), **given)
    return doctor.doctor(settings, said.append), "\n".join(said)


def test_an_installed_machine_is_fine_whatever_optional_tools_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result, said = examine(tmp_path / "data")
    assert result == 0
    for package in ("tesseract-ocr", "tesseract-ocr-kor", "libreoffice-writer-nogui"):
        assert package in said
    assert "Everything required is here." in said
    assert not (tmp_path / "data").exists(), "looking must change nothing"


def test_a_missing_bus_server_fails_and_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nats.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    result, said = examine(tmp_path)
    assert result == 1
    assert "MISS  nats-server" in said
    assert "make install" in said


def test_findings_as_json_are_one_a_line_with_the_same_verdict(tmp_path: Path) -> None:
    said: list[str] = []
    away = f"nats://user:secret@127.0.0.1:{free_port()}"
    settings = Settings(_env_file=None, data_dir=tmp_path, http_port=free_port(), nats_url=away)
    assert doctor.doctor(settings, said.append, as_json=True) == 1
    found = {one["name"]: one for one in map(json.loads, said)}
    assert found["Python"]["fine"] is True
    assert found["Python"]["section"] == "Environment"
    assert (found["NATS"]["fine"], found["NATS"]["required"]) == (False, True)
    assert "GROUNDWIRE_NATS_URL" in found["NATS"]["remedy"]


def test_a_given_server_that_is_away_fails_without_telling_its_password(tmp_path: Path) -> None:
    result, said = examine(tmp_path, nats_url=f"nats://user:secret@127.0.0.1:{free_port()}")
    assert result == 1
    assert "MISS  NATS" in said
    assert "secret" not in said


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("objects", "s3://bucket?endpoint=http://127.0.0.1:{}"),
        ("catalog", "postgresql://user:secret@127.0.0.1:{}/db"),
        ("index", "opensearch://user@127.0.0.1:{}/docs"),
        ("graph", "neo4j://user@127.0.0.1:{}/neo4j"),
    ],
)
def test_a_store_is_asked_where_its_url_points(tmp_path: Path, name: str, form: str) -> None:
    with socket.create_server((LOOPBACK, 0)) as deaf:
        port = deaf.getsockname()[1]
        _, said = examine(tmp_path, **{f"{name}_url": form.format(port)})
    assert f"127.0.0.1:{port}" in said
    assert f"MISS  {name}" not in said
    result, said = examine(tmp_path, **{f"{name}_url": form.format(free_port())})
    assert result == 1
    assert f"MISS  {name}" in said
    assert f"correct GROUNDWIRE_{name.upper()}_URL" in said
    assert "secret" not in said


@pytest.mark.parametrize("url", ["elastic://host", "opensearch:", "neo4j://host:x/db"])
def test_a_store_that_nobody_knows_is_named(tmp_path: Path, url: str) -> None:
    result, said = examine(tmp_path, index_url=url)
    assert result == 1
    assert "GROUNDWIRE_INDEX_URL names no store" in said


def test_a_stack_of_which_services_are_missing_is_told(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.make()
    with socket.create_server((LOOPBACK, 0)) as deaf:
        note = {"pid": os.getpid(), "probe_port": deaf.getsockname()[1]}
        (folder.run / "gateway.json").write_text(json.dumps(note))
        result, said = examine(tmp_path)
    assert result == 1
    assert f"process {os.getpid()}, not ready" in said
    assert said.count("not running") == len(Stage) - 1
