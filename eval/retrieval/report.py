"""The summary of a run, as `eval_summary.json` has it. Pure."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from eval.retrieval.compare import Comparison, compare, intervals
from eval.retrieval.config import EvalConfig
from eval.retrieval.measure import Measured
from eval.retrieval.peers import versions
from eval.retrieval.summary import Scores, groups_of, means, scores_of, spent
from libs.contracts.trace.redaction import Redaction


def summarise(
    name: str,
    config: EvalConfig,
    measured: Sequence[Measured],
    skipped: Sequence[str],
    redaction: Redaction | None,
) -> dict[str, Any]:
    """`metrics` by mode over all cases of all sets; the rest by set, language and group.

    Figures are means over the cases that a figure can be judged of; latencies are those of
    the caller, in milliseconds; `tokens` counts the evidence text of one answer.
    """
    pooled: dict[str, Scores] = {}
    all_answered: dict[str, list[Any]] = {}
    for one in measured:
        for mode, answered in one.answered.items():
            all_answered.setdefault(mode, []).extend(answered)
            for case_id, figures in scores_of(answered).items():
                pooled.setdefault(mode, {})[f"{one.chosen.name}/{case_id}"] = figures
    return {
        "run": name,
        "metrics": {
            mode: {**means(scores), **spent(all_answered[mode])} for mode, scores in pooled.items()
        },
        "by_group": _by_group(measured),
        "intervals": {one.chosen.name: _intervals(one, config.seed) for one in measured},
        "comparisons": {
            one.chosen.name: [found.as_dict() for found in _comparisons(one, config.seed)]
            for one in measured
        },
        "peers": {
            one.chosen.name: {peer: means(scores) for peer, scores in one.peers.items()}
            for one in measured
        },
        "trace_redaction": redaction,
        "corpus": {one.chosen.name: _corpus(one) for one in measured},
        "settings": config.model_dump(mode="json"),
        "versions": versions(config.peers),
        "skipped": list(skipped),
    }


def _by_group(measured: Sequence[Measured]) -> dict[str, dict[str, Any]]:
    """Of each set, of each group of it (`set:group`), of each language over all sets."""
    found: dict[str, dict[str, Any]] = {}
    languages: dict[str, dict[str, Scores]] = {}
    for one in measured:
        name = one.chosen.name
        for mode, answered in one.answered.items():
            scores = scores_of(answered)
            found.setdefault(name, {})[mode] = {**means(scores), **spent(answered)}
            for group, cases in groups_of(one.chosen.cases, name).items():
                chosen = {case_id: scores[case_id] for case_id in scores if case_id in cases}
                if group.startswith("language:"):
                    keyed = {f"{name}/{case_id}": each for case_id, each in chosen.items()}
                    languages.setdefault(group, {}).setdefault(mode, {}).update(keyed)
                else:
                    found.setdefault(group, {})[mode] = {"cases": len(chosen), **means(chosen)}
    for language, by_mode in languages.items():
        found[language] = {m: {"cases": len(s), **means(s)} for m, s in by_mode.items()}
    return found


def _intervals(one: Measured, seed: int) -> dict[str, dict[str, list[float]]]:
    sides: dict[str, Scores] = {m: scores_of(a) for m, a in one.answered.items()}
    sides |= one.peers
    return {
        side: {metric: [i.low, i.high] for metric, i in intervals(scores, seed).items()}
        for side, scores in sides.items()
    }


def _comparisons(one: Measured, seed: int) -> list[Comparison]:
    """The modes against each other, then each against every peer."""
    modes = [(str(mode), scores_of(answered)) for mode, answered in one.answered.items()]
    pairs = [(later, first) for first, later in combinations(modes, 2)]
    pairs += [(mode, peer) for mode in modes for peer in one.peers.items()]
    return [found for ours, theirs in pairs for found in compare(ours, theirs, seed)]


def _corpus(one: Measured) -> dict[str, Any]:
    return {
        "documents": one.corpus.documents,
        "passages": len(one.chosen.passages),
        "chunks": one.corpus.chunks,
        "cases": len(one.chosen.cases),
        "ingest_seconds": one.corpus.seconds,
    }


def case_lines(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """A line for each answer, by which a figure is followed to the questions that make it: no
    text, and of places only the ranks of those that are relevant."""
    return [
        {
            "set": one.chosen.name,
            "case": each.case.case_id,
            "group": each.case.group,
            "mode": mode,
            "status": each.status,
            "ranks": [
                each.ranking.index(place) + 1 if place in each.ranking else None
                for place in each.case.relevant
            ],
            "latency_ms": each.latency_ms,
            "run_id": each.run_id,
        }
        for one in measured
        for mode, answered in one.answered.items()
        for each in answered
    ]
