"""Stored figures of a run, case by case, and the gate that compares a later run with them."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.retrieval.bootstrap import paired
from eval.retrieval.compare import column
from eval.retrieval.measure import Measured
from eval.retrieval.model import Case
from eval.retrieval.summary import rounded, scores_of

FOLDER = Path(__file__).resolve().parents[1] / "baselines"
GATED = ("ndcg@10", "recall@5", "all@5", "abstention", "comparison_coverage")


@dataclass(frozen=True)
class Verdict:
    """What the gate found; it is passed when there is nothing in `losses`."""

    compared: int
    losses: Sequence[str]

    def as_dict(self) -> dict[str, Any]:
        """As the summary has it."""
        return {
            "passed": not self.losses, "compared": self.compared, "losses": list(self.losses),
        }  # fmt: skip


def path_of(config_name: str) -> Path:
    """Where the baseline of a configuration lies."""
    return FOLDER / f"{config_name}.json"


def store(path: Path, measured: Sequence[Measured], summary: dict[str, Any]) -> None:
    """Write a baseline: the summary, and the gated figures in the order of the cases."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        f'  "{one.chosen.name}": ' + json.dumps(_stored(one), separators=(",", ":"))
        for one in measured
    ]
    told = json.dumps(rounded(summary), indent=1, ensure_ascii=False)
    cases = ",\n".join(lines)
    path.write_text(f'{{"summary": {told},\n"cases": {{\n{cases}\n}}}}\n', "utf-8")


def read(path: Path) -> dict[str, Any] | None:
    """A stored baseline; None when there is none."""
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    return found


def gate(baseline: dict[str, Any], measured: Sequence[Measured], seed: int) -> Verdict:
    """Every set, mode and metric that the baseline has: a loss is a paired difference whose
    interval lies below zero. What cannot be compared is a loss too: a gate that saw nothing
    must not open."""
    compared, losses = 0, []
    now = {one.chosen.name: one for one in measured}
    for name, stored in baseline["cases"].items():
        one = now.get(name)
        if one is None:
            losses.append(f"{name}: not measured")
            continue
        if cases_digest(one.chosen.cases) != stored["digest"]:
            losses.append(f"{name}: other cases than the baseline's")
            continue
        for mode, metrics in stored["scores"].items():
            scores = scores_of(next((a for m, a in one.answered.items() if m == mode), []))
            for metric, before in metrics.items():
                after = list(column(scores, metric).values())
                if len(after) != len(before):
                    losses.append(f"{name} {mode} {metric}: not measured")
                    continue
                compared += 1
                difference = paired(after, before, seed)
                if difference.is_loss:
                    losses.append(
                        f"{name} {mode} {metric}: {difference.mean:+.4f} "
                        f"[{difference.low:+.4f}, {difference.high:+.4f}]"
                    )
    return Verdict(compared, losses)


def cases_digest(cases: Sequence[Case]) -> str:
    """Names cases and what is judged of them, in their order."""
    told = [[case.case_id, case.query, sorted(case.relevant)] for case in cases]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def _stored(one: Measured) -> dict[str, Any]:
    scores: dict[str, dict[str, list[float]]] = {}
    for mode, answered in one.answered.items():
        values = scores_of(answered)
        scores[mode] = {
            metric: [round(value, 4) for value in found]
            for metric in GATED
            if (found := list(column(values, metric).values()))
        }
    return {"digest": cases_digest(one.chosen.cases), "scores": scores}
