"""Embedders and cross-encoders of sentence-transformers, from a folder on this machine.

The library needs torch and comes with the extra `models`; nothing is fetched at run time.
"""

import hashlib
import importlib
import os
from pathlib import Path
from typing import Any

import orjson

from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.port import Vectors
from libs.runtime.inference.threaded import Encode, Kind, ThreadedEmbedder, key_name

_WEIGHTS = (".safetensors", ".bin", ".onnx")
_DIMENSIONS = ("out_features", "word_embedding_dimension", "embedding_dimension", "hidden_size")
_ADVICE = "pip install 'groundwire[models]'"


def library() -> Any:
    """The library, which takes seconds to import; `ModelUnavailable` where it is missing."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        return importlib.import_module("sentence_transformers")
    except ImportError:
        raise ModelUnavailable(f"sentence-transformers is not installed: {_ADVICE}") from None


def fingerprint(folder: Path) -> str:
    """16 hex digits of a model's configuration and of its weights' names, sizes and ends."""
    files = sorted(p for p in folder.rglob("*") if p.suffix in (".json", ".txt", *_WEIGHTS))
    if not any(p.suffix in _WEIGHTS for p in files):
        raise ModelUnavailable(f"there is no model of sentence-transformers in {folder}")
    seen = hashlib.sha256()
    for path in files:
        seen.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
        with path.open("rb") as file:
            if path.suffix in _WEIGHTS:
                file.seek(max(0, path.stat().st_size - 65_536))
            seen.update(file.read(1 << 24))
    return seen.hexdigest()[:16]


class SentenceEmbedder(ThreadedEmbedder):
    """`Embedder` over a folder that `SentenceTransformer.save` wrote.

    Prompts for queries and documents are those that the model's own configuration names.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.model = key_name("st", folder.name[:80], fingerprint(folder))
        self.dimension = _dimension(folder)

    def load(self) -> Encode:
        """The model on the CPU."""
        transformer = library().SentenceTransformer(str(self._folder), device="cpu")

        def encode(texts: list[str], kind: Kind) -> Vectors:
            embed = transformer.encode_query if kind == "query" else transformer.encode_document
            made: Vectors = embed(texts, show_progress_bar=False, convert_to_numpy=True)
            return made

        return encode


def _dimension(folder: Path) -> int:
    """The length of a vector: that of the last module that changes it."""
    try:
        modules = orjson.loads((folder / "modules.json").read_bytes())
        found = None
        for module in modules:
            file = folder / module["path"] / "config.json"
            if file.exists():
                known = orjson.loads(file.read_bytes())
                found = next((known[key] for key in _DIMENSIONS if key in known), found)
    except (OSError, ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, int):
        raise ModelUnavailable(f"{folder} does not say how long its vectors are")
    return found
