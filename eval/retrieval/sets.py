"""Find the sets of a configuration, cut as it says."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eval.retrieval.beir import load_beir, load_squad
from eval.retrieval.cases import load_cases
from eval.retrieval.config import SetConfig
from eval.retrieval.model import Case, EvalSet, Passage


def load(settings: SetConfig, data: Path, beside: Path, limit: int | None) -> EvalSet | None:
    """A set; None when it is not here. `limit` cuts its cases further."""
    path = (beside if settings.kind == "cases" else data) / settings.path
    if not path.exists():
        return None
    if settings.kind == "beir":
        found = load_beir(settings.name, path, settings.language, settings.group)
    elif settings.kind == "squad":
        found = load_squad(settings.name, path, settings.language)
    else:
        found = load_cases(settings.name, path)
    most = min(n for n in (limit, settings.limit, len(found.cases)) if n is not None)
    cases = spread(found.cases, most)
    passages = cut(found.passages, cases, settings.passages)
    return replace(found, cases=cases, passages=passages)


def spread(cases: Sequence[Case], most: int) -> Sequence[Case]:
    """So many cases, evenly over all of them: neighbours often ask about one text."""
    return [cases[i * len(cases) // most] for i in range(most)]


def cut(passages: Sequence[Passage], cases: Sequence[Case], most: int | None) -> Sequence[Passage]:
    """What answers the cases, filled up with the first others to `most`, in their order."""
    if most is None:
        return passages
    relevant = {place for case in cases for place in case.relevant}
    room = max(0, most - len(relevant))
    others = [p.passage_id for p in passages if p.passage_id not in relevant][:room]
    kept = relevant | set(others)
    return [passage for passage in passages if passage.passage_id in kept]
