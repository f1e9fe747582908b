"""The similarity that users see: cosines of an embedder on one scale, 0 to 1. Pure.

The thresholds of entry search (0.3, 0.55, 0.85) are on the scale of an embedder whose unrelated
texts score near 0.2. One whose cosines lie elsewhere is mapped there by a stored calibration on
random pairs, linear between its points: their median is 0.2, their upper quartile 0.3, their
99th percentile 0.55, and a text asked and stored is 1. Pairs of two questions are nearer to
each other than a question and an entry, so each kind has its own points. Those stored are of
90,000 pairs of `eval/data/entries-app-ko*.csv`.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

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

    def similarity(self, cosine: float) -> float:
        """The cosine on the scale users see."""
        bottom = 2 * self.median - self.p99
        points = [bottom, self.median, self.quartile, self.p99, self.same]
        return float(np.interp(cosine, points, SCALE))


@dataclass(frozen=True)
class Calibration:
    """The scales of one embedder: question against entry, question against question."""

    entries: Scale
    questions: Scale


PLAIN = Calibration(Scale(0.2, 0.3, 0.55, 1.0), Scale(0.2, 0.3, 0.55, 1.0))
"""Of an embedder that nobody measured: its cosines as they are from 0.2 on."""


@lru_cache
def _stored() -> dict[str, Calibration]:
    known = json.loads(FILE.read_text())
    return {
        name: Calibration(Scale(*one["entries"]), Scale(*one["questions"]))
        for name, one in known.items()
    }


def calibration_of(model: str) -> Calibration:
    """The calibration stored for exactly this model, else `PLAIN`."""
    return _stored().get(model, PLAIN)
