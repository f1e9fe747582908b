"""Who is better, case by case: modes against each other and against the peers. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from eval.retrieval.bootstrap import Interval, interval, paired
from eval.retrieval.summary import Scores

COMPARED = ("ndcg@10", "recall@5", "all@5")


@dataclass(frozen=True)
class Comparison:
    """`ours - theirs` of a metric over the cases that both have."""

    ours: str
    theirs: str
    metric: str
    difference: Interval

    def as_dict(self) -> dict[str, object]:
        """As the summary has it."""
        return {
            "ours": self.ours,
            "theirs": self.theirs,
            "metric": self.metric,
            "difference": self.difference.mean,
            "interval": [self.difference.low, self.difference.high],
            "significant": self.difference.is_loss or self.difference.is_gain,
        }


def column(scores: Scores, metric: str) -> dict[str, float]:
    """A metric by case id, of the cases that have it."""
    return {case_id: one[metric] for case_id, one in scores.items() if metric in one}


def intervals(scores: Scores, seed: int) -> dict[str, Interval]:
    """Each metric's mean with its interval."""
    names = dict.fromkeys(metric for one in scores.values() for metric in one)
    return {metric: interval(list(column(scores, metric).values()), seed) for metric in names}


def compare(
    ours: tuple[str, Scores], theirs: tuple[str, Scores], seed: int,
    metrics: Iterable[str] = COMPARED,
) -> list[Comparison]:  # fmt: skip
    """The metrics that both sides have, over the cases that both have."""
    found = []
    for metric in metrics:
        mine, other = column(ours[1], metric), column(theirs[1], metric)
        shared = [case_id for case_id in mine if case_id in other]
        if shared:
            values = [mine[c] for c in shared], [other[c] for c in shared]
            difference = paired(*values, seed)
            found.append(Comparison(ours[0], theirs[0], metric, difference))
    return found
