"""The converted encoder in ONNX Runtime: token ids in, unit vectors out. Blocking."""

import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from libs.runtime.inference.e5_cache import MODEL, ModelFiles, model_files, open_tokenizer
from libs.runtime.inference.e5_package import HIDDEN, PAD, REQUIREMENT, VOCABULARY
from libs.runtime.inference.e5_tokenizer import Tokenizer
from libs.runtime.inference.e5_weights import BLOCK, BLOCK_BYTES, dequantise
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.port import Vectors

BATCH_TOKENS = 1024
"""Tokens a batch, padding included: more is no faster, and memory grows with it."""

BATCH_TEXTS = 64

_GOLDEN = Path(__file__).with_name("e5_golden.json")
_GOLDEN_COSINE = 0.995


class E5Session:
    """Tokeniser, word table and encoder. Safe to share: each call runs in its own thread."""

    def __init__(self, tokenizer: Tokenizer, files: ModelFiles) -> None:
        onnxruntime: Any = importlib.import_module("onnxruntime")
        self._tokenizer = tokenizer
        row = HIDDEN // BLOCK * BLOCK_BYTES
        self._words = np.memmap(
            files.package, np.uint8, "r", offset=files.word_offset, shape=(VOCABULARY, row)
        )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # parallel are the calls
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(files.onnx), options, providers=["CPUExecutionProvider"]
        )

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, prefix included, cut where the model ends."""
        return self._tokenizer.ids(texts)

    def vectors(self, batch: Sequence[Sequence[int]]) -> Vectors:
        """(len(batch), 384) of unit length. The shorter are padded to the longest."""
        width = max(map(len, batch))
        ids = np.full((len(batch), width), PAD, np.int64)
        mask = np.zeros(ids.shape, np.int32)
        for row, text in enumerate(batch):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        used, places = np.unique(ids, return_inverse=True)
        words = dequantise(self._words[used]).reshape(-1, HIDDEN)
        inputs = {"x": words[places.reshape(ids.shape)], "mask": mask}
        return np.asarray(self._session.run(None, inputs)[0], np.float32)


def open_session(cache_root: Path) -> E5Session:
    """Load, converting on the first start, and prove the vectors against stored ones."""
    session = E5Session(open_tokenizer(cache_root), model_files(cache_root))
    check_golden(session)
    return session


def check_golden(session: E5Session) -> None:
    """`ModelUnavailable` unless the vectors of known texts come out.

    The stored ones were computed by the package's own engine from the same weights; int8
    here keeps a cosine of .998 and more to them.
    """
    golden: dict[str, list[float]] = json.loads(_GOLDEN.read_bytes())
    expected = np.array(list(golden.values()), np.float32)
    cosines = (session.vectors(session.ids(list(golden))) * expected).sum(axis=1)
    if not (cosines >= _GOLDEN_COSINE).all():
        raise ModelUnavailable(
            f"{MODEL} computes other vectors than it should (cosine {cosines.min():.4f}): this "
            f"processor or onnxruntime is not fit for it; reinstall onnxruntime and {REQUIREMENT}"
        )


def plan_batches(lengths: Sequence[int]) -> list[list[int]]:
    """Indices in batches of like length, so that little is padding.

    No batch exceeds `BATCH_TEXTS`, nor `BATCH_TOKENS` unless it is one text alone.
    """
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        batch = batches[-1] if batches else None
        if (
            batch is None
            or len(batch) == BATCH_TEXTS
            or (len(batch) + 1) * lengths[index] > BATCH_TOKENS
        ):
            batches.append([index])
        else:
            batch.append(index)
    return batches
