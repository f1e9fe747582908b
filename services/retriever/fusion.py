"""Fusion of ranked lists: pure functions over keys and scores.

Rank fusion is Cormack, Clarke and Büttcher's reciprocal rank fusion (SIGIR 2009) with the
seed system's constants; the convex mix is Bruch, Gai and Ingber's (ACM TOIS 2023) of scores
normalised from where they begin to mean something: 0 for BM25, for cosines the median of
texts that have nothing to do with each other. The last of a list is then no worse than it is,
however short or long the list.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

K = TypeVar("K")

Ranked = Sequence[tuple[K, float]]


class Fused(NamedTuple):
    """A fused score with the parts that explain it, by channel."""

    score: float
    parts: dict[str, float]


def reciprocal_rank(
    channels: Mapping[str, Ranked[K]], weights: Mapping[str, float], k: int
) -> dict[K, Fused]:
    """`score = Σ weight / (k + rank + 1)`, ranks from 0."""
    scores: dict[K, dict[str, float]] = {}
    for name, hits in channels.items():
        weight = weights.get(name, 0.0)
        if weight <= 0:
            continue
        for rank, (key, _) in enumerate(hits):
            scores.setdefault(key, {})[name] = weight / (k + rank + 1)
    return {key: Fused(sum(parts.values()), parts) for key, parts in scores.items()}


def min_max(hits: Ranked[K]) -> dict[K, float]:
    """Scores scaled to 0…1 over the list; a list of equal scores is all ones."""
    if not hits:
        return {}
    values = [score for _, score in hits]
    low, high = min(values), max(values)
    if high <= low:
        return {key: 1.0 for key, _ in hits}
    return {key: (score - low) / (high - low) for key, score in hits}


def above(hits: Ranked[K], floor: float) -> dict[K, float]:
    """Scores as shares of the best one, both counted from `floor`; 0 at the floor and below.
    A list that nowhere rises above it is all zeros."""
    best = max((score for _, score in hits), default=floor)
    if best <= floor:
        return {key: 0.0 for key, _ in hits}
    return {key: max(0.0, (score - floor) / (best - floor)) for key, score in hits}


def convex(
    content: Ranked[K],
    dense: Ranked[K],
    *,
    shares: Mapping[K, float],
    floor: float,
    extra: Mapping[str, tuple[Ranked[K], float]],
) -> dict[K, Fused]:
    """`(1 − share) · lexical + share · dense`, absent ones 0; lexical scores are counted from
    0, dense ones from `floor`, both as shares of the best.

    Each key has the dense share of where it is from. One that is not in `shares` has no vector
    yet and keeps its full lexical score, so it does not sink while its vectors are on their
    way. `extra` channels add their score, min-max-normalised, times their weight.
    """
    scores: dict[K, dict[str, float]] = {}
    for key, value in above(content, 0.0).items():
        scores.setdefault(key, {})["content"] = (1.0 - shares.get(key, 0.0)) * value
    for key, value in above(dense, floor).items():
        scores.setdefault(key, {})["dense"] = shares.get(key, 0.0) * value
    for name, (hits, weight) in extra.items():
        if weight > 0:
            for key, value in min_max(hits).items():
                scores.setdefault(key, {})[name] = weight * value
    return {key: Fused(sum(parts.values()), parts) for key, parts in scores.items()}
