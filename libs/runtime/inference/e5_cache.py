"""The converted model on disk, made on first use and rebuilt when absent: never part of a backup.

`<cache root>/e5-<first 16 of the package's sha256>-v<conversion>/` holds the tokeniser
(`e5.spm`, then `tokenizer.json`) and the encoder (`e5.onnx`, then `model.json`). A
manifest is written last and names the sizes of what it vouches for, so a part is there
whole or not at all; processes that race write equal bytes under names of their own.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from libs.runtime.inference.e5_package import SHA256, find_package, read_package
from libs.runtime.inference.e5_tokenizer import Tokenizer, sentencepiece_model
from libs.runtime.inference.errors import ModelUnavailable

CONVERSION = 1
"""Raised whenever converted weights or token ids would differ."""

MODEL = f"e5-{SHA256[:8]}-v{CONVERSION}"
"""The key of vectors: weights and conversion together."""

_FOLDER = f"e5-{SHA256[:16]}-v{CONVERSION}"
_SPM, _TOKENIZER = "e5.spm", "tokenizer.json"
_ONNX, _MODEL = "e5.onnx", "model.json"
_STALE_SECONDS = 3600.0


@dataclass(frozen=True)
class ModelFiles:
    """The encoder, and where the 4-bit word table lies: it stays in the package."""

    onnx: Path
    package: Path
    word_offset: int


def open_tokenizer(cache_root: Path) -> Tokenizer:
    """The tokeniser, converted first where needed. The package is read only for that."""
    folder = cache_root / _FOLDER
    manifest = _manifest(folder, _TOKENIZER) or _build(folder, _build_tokenizer)
    normaliser = {int(code): text for code, text in manifest["normaliser"].items()}
    return Tokenizer(folder / _SPM, normaliser)


def model_files(cache_root: Path) -> ModelFiles:
    """The encoder, converted first where needed (about two seconds)."""
    folder = cache_root / _FOLDER
    package = find_package()
    manifest = _manifest(folder, _MODEL) or _build(folder, _build_model)
    return ModelFiles(folder / _ONNX, package, manifest["word_offset"])


def _build_tokenizer(folder: Path) -> dict[str, Any]:
    package = read_package(find_package())
    model = sentencepiece_model(package.pieces)
    _write(folder, _SPM, model)
    manifest = {"sizes": {_SPM: len(model)}, "normaliser": package.normaliser}
    _write(folder, _TOKENIZER, json.dumps(manifest).encode())
    return manifest


def _build_model(folder: Path) -> dict[str, Any]:
    from libs.runtime.inference.e5_graph import encoder_model

    package = read_package(find_package())
    model = encoder_model(package.tensors)
    _write(folder, _ONNX, model)
    manifest = {"sizes": {_ONNX: len(model)}, "word_offset": package.word_offset}
    _write(folder, _MODEL, json.dumps(manifest).encode())
    return manifest


def _manifest(folder: Path, name: str) -> dict[str, Any] | None:
    try:
        manifest: dict[str, Any] = json.loads((folder / name).read_bytes())
        sizes: dict[str, int] = manifest["sizes"]
        whole = all((folder / file).stat().st_size == size for file, size in sizes.items())
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return manifest if whole else None


def _build(folder: Path, build: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        return build(folder)
    except OSError as error:
        raise ModelUnavailable(
            f"cannot write the converted embedding model to {folder} ({error.strerror}): "
            "let GROUNDWIRE_DATA_DIR name a folder that this service may write"
        ) from error


def _write(folder: Path, name: str, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f"{name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(folder / name)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _sweep(folder: Path) -> None:
    """Remove what killed builders left behind."""
    for path in folder.glob("*.tmp"):
        try:
            if path.stat().st_mtime < time.time() - _STALE_SECONDS:
                path.unlink()
        except FileNotFoundError:
            continue
