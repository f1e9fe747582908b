"""Intervals by the bootstrap over cases (Efron and Tibshirani 1993): percentile, paired,
seeded, so that equal figures give equal intervals. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEVEL = 0.95
SAMPLES = 5_000


@dataclass(frozen=True)
class Interval:
    """A mean, and between which bounds the mean of other such cases is expected."""

    mean: float
    low: float
    high: float

    @property
    def is_loss(self) -> bool:
        """Whether it lies below zero as a whole."""
        return self.high < 0

    @property
    def is_gain(self) -> bool:
        """Whether it lies above zero as a whole."""
        return self.low > 0


def interval(values: Sequence[float], seed: int, *, samples: int = SAMPLES) -> Interval:
    """The mean of `values` (at least one) with its 95 % interval."""
    data = np.asarray(values, np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(data), (samples, len(data)))
    means = data[drawn].mean(axis=1)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return Interval(float(data.mean()), float(low), float(high))


def paired(
    ours: Sequence[float], theirs: Sequence[float], seed: int, *, samples: int = SAMPLES
) -> Interval:
    """The mean of `ours - theirs`, case by case, with its interval."""
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    return interval(differences, seed, samples=samples)
