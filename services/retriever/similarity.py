"""The similarity that users see: cosines of an embedder on one scale, 0 to 1. Pure.

The thresholds of entry search (0.3, 0.55, 0.85) are on the scale of an embedder whose unrelated
texts score near 0.2. One whose cosines lie elsewhere is mapped there by a stored calibration on
random pairs, linear between its points: their median is 0.2, their upper quartile 0.3, their
99th percentile 0.55, and a text asked and stored is 1. Pairs of two questions are nearer to
each other than a question and an entry, and a paragraph is farther from a question than an
entry is, so each kind has its own points. Those stored are of 90,000 pairs of
`eval/data/entries-app-ko*.csv`, and of questions with the paragraphs of other questions in
Korean and English.
"""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

FILE = Path(__file__).with_name("calibration.json")
SCALE = (0.0, 0.2, 0.3, 0.55, 1.0)


@dataclass(frozen=True)
class Scale:
    """Cosines at the median, upper quartile and 99th percentile of random pairs, and of a text
    with itself; rising."""

    median: float
    quartile: float
    p99: float
    same: float

    @property
    def floor(self) -> float:
        """The cosine of texts that have nothing to do with each other: as far below the median
        as the 99th percentile is above it."""
        return 2 * self.median - self.p99

    def similarity(self, cosine: float) -> float:
        """The cosine on the scale users see."""
        points = [self.floor, self.median, self.quartile, self.p99, self.same]
        return float(np.interp(cosine, points, SCALE))


class Shares(NamedTuple):
    """How much the dense channel counts in a mix (0…1) at which it gains most and loses to the
    lexical one nowhere: for a query in words, and for one in a script that is searched by its
    bigrams, whose BM25 is the stronger one."""

    words: float
    bigrams: float


_BIGRAMS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")


@dataclass(frozen=True)
class Calibration:
    """The scales of one embedder: a question against an entry, a question, a passage; and how
    much it may count."""

    entries: Scale
    questions: Scale
    passages: Scale
    shares: Shares

    def share(self, query: str) -> float:
        """How much the dense channel may count for a query."""
        return self.shares.bigrams if in_bigrams(query) else self.shares.words


_AS_IT_IS = Scale(0.2, 0.3, 0.55, 1.0)
PLAIN = Calibration(_AS_IT_IS, _AS_IT_IS, _AS_IT_IS, Shares(0.5, 0.4))
"""Of an embedder that nobody measured: its cosines as they are from 0.2 on, and shares at which
one of little worth did least harm."""


@lru_cache
def _stored() -> dict[str, Calibration]:
    known = json.loads(FILE.read_text())
    return {
        name: Calibration(
            Scale(*one["entries"]),
            Scale(*one["questions"]),
            Scale(*one["passages"]),
            Shares(*one["shares"]),
        )
        for name, one in known.items()
    }


def in_bigrams(text: str) -> bool:
    """Whether some of the text is in a script whose tokens are its bigrams."""
    return _BIGRAMS.search(text) is not None


def is_calibrated(model: str) -> bool:
    """Whether a calibration is stored for exactly this model."""
    return model in _stored()


def calibration_of(model: str) -> Calibration:
    """The calibration stored for exactly this model, else `PLAIN`."""
    return _stored().get(model, PLAIN)
