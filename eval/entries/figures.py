"""What is said of rankings of entries: Acc@k, MRR@5 and nDCG@10, by group, beside each other.

One entry is right, so Acc@5 is recall at 5. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.retrieval.bootstrap import Interval, paired
from eval.retrieval.metrics import ndcg, reciprocal_rank

DEEP = 10
"""Entries that are asked for."""
SHOWN = 5
"""Entries that users see."""
FIGURES = ("acc@1", "acc@3", "acc@5", "mrr@5", "ndcg@10")
COMPARED = ("acc@1", "acc@5", "mrr@5", "ndcg@10")
SEED = 11


@dataclass(frozen=True)
class Found:
    """One entry of a ranking."""

    entry_id: str
    name: str
    similarity: float


@dataclass(frozen=True)
class Case:
    """A question asked under one setting; `bucket` is the popularity of the right entry."""

    question: str
    entry_id: str
    source: str
    bucket: str
    ranking: tuple[Found, ...]

    @property
    def place(self) -> int | None:
        """Where the right entry stands, from 1; None when it was not found."""
        ids = [one.entry_id for one in self.ranking]
        return ids.index(self.entry_id) + 1 if self.entry_id in ids else None

    @property
    def figures(self) -> dict[str, float]:
        """Those of `FIGURES`."""
        return figures([one.entry_id for one in self.ranking], self.entry_id)


def figures(ranking: Sequence[str], right: str) -> dict[str, float]:
    """Acc@1, Acc@3, Acc@5, MRR@5 and nDCG@10 of one ranking."""
    found = {f"acc@{k}": float(right in ranking[:k]) for k in (1, 3, SHOWN)}
    return {
        **found,
        f"mrr@{SHOWN}": reciprocal_rank(ranking, {right}, SHOWN),
        f"ndcg@{DEEP}": ndcg(ranking, {right: 1}, DEEP),
    }


def mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each figure; nothing for no rows."""
    return {n: round(sum(r[n] for r in rows) / len(rows), 4) for n in rows[0]} if rows else {}


def summary(cases: Sequence[Case]) -> dict[str, object]:
    """The figures of a setting: over all, by source of the question, by popularity."""
    by_source: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    by_bucket: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    for case in cases:
        by_source[case.source].append(case.figures)
        by_bucket[case.bucket].append(case.figures)
    return {
        **mean([case.figures for case in cases]),
        "by_source": {name: mean(rows) for name, rows in sorted(by_source.items())},
        "by_popularity": {name: mean(rows) for name, rows in by_bucket.items()},
    }


def against(cases: Sequence[Case], base: Sequence[Case]) -> dict[str, Interval]:
    """The difference to the base, question by question, with its 95 % interval."""
    return {
        name: paired([c.figures[name] for c in cases], [c.figures[name] for c in base], SEED)
        for name in COMPARED
    }
