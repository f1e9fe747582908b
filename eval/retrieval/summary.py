"""From answered cases to the figures of sets, modes, languages and groups. Pure."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from eval.retrieval.metrics import figures
from eval.retrieval.model import Answered, Case

Scores = dict[str, dict[str, float]]
"""Figures by case id; a case has those that can be judged of it."""


def scores_of(answered: Sequence[Answered]) -> Scores:
    """What each case is worth."""
    return {one.case.case_id: _scores(one) for one in answered}


def ranking_scores(cases: Sequence[Case], rankings: Sequence[Sequence[str]]) -> Scores:
    """The same for an engine that only ranks."""
    return {
        case.case_id: figures(ranking, case.relevant)
        for case, ranking in zip(cases, rankings, strict=True)
        if case.relevant
    }


def means(scores: Scores, keep: Callable[[str], bool] = lambda case_id: True) -> dict[str, float]:
    """The mean of each figure over the cases that have it."""
    values: dict[str, list[float]] = {}
    for case_id, one in scores.items():
        if keep(case_id):
            for metric, value in one.items():
                values.setdefault(metric, []).append(value)
    return {metric: sum(some) / len(some) for metric, some in values.items()}


def spent(answered: Sequence[Answered]) -> dict[str, float]:
    """Latency as the caller waited, tokens of the evidence, and the share that time or budget
    ended early."""
    latencies = sorted(one.latency_ms for one in answered)
    return {
        "latency_p50_ms": _rank(latencies, 0.5),
        "latency_p95_ms": _rank(latencies, 0.95),
        "tokens": sum(one.tokens for one in answered) / len(answered),
        "partial": sum(one.status == "partial" for one in answered) / len(answered),
    }


def rounded(value: Any) -> Any:
    """Numbers as they are written: four places, in whatever they stand."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return value


def groups_of(cases: Iterable[Case], set_name: str) -> dict[str, set[str]]:
    """Case ids of each group that is reported: by language, and by group within the set."""
    found: dict[str, set[str]] = {}
    for case in cases:
        found.setdefault(f"language:{case.language}", set()).add(case.case_id)
        found.setdefault(f"{set_name}:{case.group}", set()).add(case.case_id)
    return found


def _scores(one: Answered) -> dict[str, float]:
    case = one.case
    found = figures(one.ranking, case.relevant) if case.relevant else {}
    found["abstention"] = float((one.status in DECLINED) == case.abstain)
    if case.sides:
        found["comparison_coverage"] = sum(one.covered.values()) / len(case.sides)
    return found


DECLINED = frozenset({"abstained", "clarification_required"})
"""What a query that the corpus does not answer should end in."""


def _rank(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
