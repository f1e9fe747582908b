"""One run: the stack, the sets of a configuration, their figures."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval.retrieval.beir import load_beir, load_squad
from eval.retrieval.config import EvalConfig, SetConfig
from eval.retrieval.model import Answered, EvalSet, Mode
from eval.retrieval.peers import PEERS
from eval.retrieval.run import ask_all
from eval.retrieval.services import Corpus, client_of, ingest, stack
from eval.retrieval.summary import Scores, groups_of, means, ranking_scores, scores_of, spent
from libs.runtime.inference.tokens import TokenCounter
from tests.support.stack import Stack


@dataclass(frozen=True)
class Run:
    """What to measure, and where things lie; `tell` is given a line as each part is done."""

    name: str
    config: EvalConfig
    beside: Path
    data: Path
    keep: Path | None
    modes: tuple[Mode, ...]
    limit: int | None
    tell: Callable[[str], None]


@dataclass
class Measured:
    """All that came of one set."""

    settings: SetConfig
    chosen: EvalSet
    corpus: Corpus
    answered: dict[Mode, list[Answered]]
    peers: dict[str, Scores]


async def measure(run: Run) -> dict[str, Any]:
    """The summary of a run."""
    sets, skipped = [], []
    for settings in run.config.sets:
        loaded = load(run, settings)
        if loaded is None:
            skipped.append(f"{settings.name}: no {settings.path} below {run.data}")
            run.tell(f"skipped: {skipped[-1]}")
        else:
            sets.append((settings, loaded))
    measured: list[Measured] = []
    if sets:
        environment = {"GROUNDWIRE_PLANNER_CACHE": "false"}
        if run.config.embedder is not None:
            environment["GROUNDWIRE_EMBEDDER"] = run.config.embedder
        with stack(run.keep, environment) as running:
            measured = [await _measure(run, running, *one) for one in sets]
    return summarise(run, measured, skipped)


def load(run: Run, settings: SetConfig) -> EvalSet | None:
    """A set with as many cases as are wanted; None when it is not here."""
    folder = run.data / settings.path
    if not folder.exists():
        return None
    if settings.kind == "beir":
        found = load_beir(settings.name, folder, settings.language, settings.group)
    else:
        found = load_squad(settings.name, folder, settings.language)
    most = min(run.limit or len(found.cases), settings.limit or len(found.cases))
    return replace(found, cases=found.cases[:most])


async def _measure(run: Run, running: Stack, settings: SetConfig, chosen: EvalSet) -> Measured:
    counter = TokenCounter(running.data / "models")
    async with client_of(running, settings.name) as client:
        corpus = await ingest(client, chosen)
        run.tell(
            f"{chosen.name}: {corpus.chunks} chunks in {corpus.documents} documents published "
            f"in {corpus.seconds:.0f} s"
        )
        answered: dict[Mode, list[Answered]] = {}
        for mode in run.modes:
            if mode in settings.modes:
                answered[mode] = await ask_all(
                    client, chosen.cases, mode, settings, corpus.locate, counter.count,
                    run.config.callers,
                )  # fmt: skip
                run.tell(_line(f"{chosen.name} {mode}", means(scores_of(answered[mode]))))
    peers: dict[str, Scores] = {}
    for name in run.config.peers if chosen.passages else ():
        rankings = await asyncio.to_thread(PEERS[name], chosen.passages, chosen.cases)
        peers[name] = ranking_scores(chosen.cases, rankings)
        run.tell(_line(f"{chosen.name} {name}", means(peers[name])))
    return Measured(settings, chosen, corpus, answered, peers)


def _line(what: str, figures: dict[str, float]) -> str:
    return f"{what}: " + " ".join(f"{name}={value:.4f}" for name, value in figures.items())


def summarise(run: Run, measured: Sequence[Measured], skipped: Sequence[str]) -> dict[str, Any]:
    """The summary as it is written."""
    by_mode: dict[str, Scores] = {}
    by_group: dict[str, dict[str, Any]] = {}
    for one in measured:
        name = one.chosen.name
        for mode, answered in one.answered.items():
            scores = scores_of(answered)
            keyed = {f"{name}/{case_id}": figures for case_id, figures in scores.items()}
            by_mode.setdefault(mode, {}).update(keyed)
            by_group.setdefault(name, {})[mode] = {**means(scores), **spent(answered)}
            for group, cases in groups_of(one.chosen.cases, name).items():
                by_group.setdefault(group, {})[mode] = means(scores, cases.__contains__)
    return {
        "run": run.name,
        "metrics": {mode: means(scores) for mode, scores in by_mode.items()},
        "by_group": by_group,
        "peers": {
            one.chosen.name: {peer: means(scores) for peer, scores in one.peers.items()}
            for one in measured
        },
        "trace_redaction": None,
        "corpus": {
            one.chosen.name: {
                "documents": one.corpus.documents,
                "passages": len(one.chosen.passages),
                "chunks": one.corpus.chunks,
                "cases": len(one.chosen.cases),
                "ingest_seconds": one.corpus.seconds,
            }
            for one in measured
        },
        "settings": run.config.model_dump(mode="json"),
        "skipped": list(skipped),
    }
