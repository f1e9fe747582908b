"""Figures of one ranking against graded judgements. Pure.

nDCG as trec_eval has it: the grade is the gain, log2(rank + 1) the discount, and the ideal
ranking that of all judgements (Järvelin and Kekäläinen 2002). `all@k` is 1 when every
relevant place is among the first k, the measure of multi-hop questions.
"""

import math
from collections.abc import Mapping, Sequence

NDCG_AT = 10
RECALL_AT = (2, 5, 10)
ALL_AT = (5, 10)
ACC_AT = (1, 5)
METRICS = (
    f"ndcg@{NDCG_AT}",
    *(f"recall@{k}" for k in RECALL_AT),
    *(f"all@{k}" for k in ALL_AT),
    "mrr@10",
    *(f"acc@{k}" for k in ACC_AT),
)


def figures(ranking: Sequence[str], relevant: Mapping[str, int]) -> dict[str, float]:
    """Every metric of one ranking, by its name; `relevant` holds at least one positive grade."""
    gold = {place for place, grade in relevant.items() if grade > 0}
    return {
        f"ndcg@{NDCG_AT}": ndcg(ranking, relevant, NDCG_AT),
        **{f"recall@{k}": len(gold & set(ranking[:k])) / len(gold) for k in RECALL_AT},
        **{f"all@{k}": float(gold <= set(ranking[:k])) for k in ALL_AT},
        "mrr@10": reciprocal_rank(ranking, gold, 10),
        **{f"acc@{k}": float(bool(gold & set(ranking[:k]))) for k in ACC_AT},
    }


def ndcg(ranking: Sequence[str], relevant: Mapping[str, int], k: int) -> float:
    """Normalised discounted cumulative gain of the first k."""
    gained = _dcg([relevant.get(place, 0) for place in ranking[:k]])
    ideal = _dcg(sorted(relevant.values(), reverse=True)[:k])
    return gained / ideal if ideal else 0.0


def reciprocal_rank(ranking: Sequence[str], gold: set[str], k: int) -> float:
    """1 / the rank of the first relevant place among the first k, else 0."""
    for rank, place in enumerate(ranking[:k], 1):
        if place in gold:
            return 1 / rank
    return 0.0


def _dcg(gains: Sequence[int]) -> float:
    return sum(max(0, gain) / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
