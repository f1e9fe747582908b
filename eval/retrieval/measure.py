"""One run: the stack, the sets of a configuration, what came of each."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from eval.retrieval.config import EvalConfig, SetConfig
from eval.retrieval.model import Answered, EvalSet, Mode
from eval.retrieval.peers import PEERS
from eval.retrieval.run import ask_all
from eval.retrieval.services import Corpus, client_of, ingest, stack
from eval.retrieval.sets import load
from eval.retrieval.summary import Scores, means, ranking_scores, scores_of
from eval.retrieval.traces import write_traces
from libs.contracts.trace.redaction import Redaction
from libs.runtime.inference.tokens import TokenCounter
from tests.support.stack import Stack


@dataclass(frozen=True)
class Run:
    """What to measure, and where things lie; traces go to `folder`; `tell` is given a line as
    each part is done."""

    name: str
    config: EvalConfig
    beside: Path
    data: Path
    folder: Path
    keep: Path | None
    modes: tuple[Mode, ...]
    limit: int | None
    redaction: Redaction | None
    tell: Callable[[str], None]


@dataclass
class Measured:
    """All that came of one set."""

    settings: SetConfig
    chosen: EvalSet
    corpus: Corpus
    answered: dict[Mode, list[Answered]] = field(default_factory=dict)
    peers: dict[str, Scores] = field(default_factory=dict)


async def measure(run: Run) -> tuple[list[Measured], list[str]]:
    """What came of each set, and why others were skipped."""
    sets: list[tuple[SetConfig, EvalSet]] = []
    skipped: list[str] = []
    for settings in run.config.sets:
        loaded = load(settings, run.data, run.beside, run.limit)
        if loaded is None:
            skipped.append(f"{settings.name}: no {settings.path} here")
            run.tell(f"skipped: {skipped[-1]}")
        else:
            sets.append((settings, loaded))
    if not sets:
        return [], skipped
    environment = {"GROUNDWIRE_PLANNER_CACHE": "false"}
    if run.config.embedder is not None:
        environment["GROUNDWIRE_EMBEDDER"] = run.config.embedder
    with stack(run.keep, environment) as running:
        return [await _measure(run, running, *one) for one in sets], skipped


async def _measure(run: Run, running: Stack, settings: SetConfig, chosen: EvalSet) -> Measured:
    counter = TokenCounter(running.data / "models")
    async with client_of(running, settings.name) as client:
        corpus = await ingest(client, chosen)
        taken = "before" if corpus.seconds is None else f"in {corpus.seconds:.0f} s"
        run.tell(
            f"{chosen.name}: {corpus.chunks} chunks in {corpus.documents} documents published "
            f"{taken}"
        )
        measured = Measured(settings, chosen, corpus)
        for mode in run.modes:
            if mode in settings.modes:
                answered = await ask_all(
                    client, chosen.cases, mode, settings, corpus.locate, counter.count,
                    run.config.callers,
                )  # fmt: skip
                measured.answered[mode] = answered
                await write_traces(client, chosen.name, answered, run.folder, run.redaction)
                run.tell(_line(f"{chosen.name} {mode}", means(scores_of(answered))))
    for name in run.config.peers if chosen.passages else ():
        rankings = await asyncio.to_thread(PEERS[name], chosen.passages, chosen.cases)
        measured.peers[name] = ranking_scores(chosen.cases, rankings)
        run.tell(_line(f"{chosen.name} {name}", means(measured.peers[name])))
    return measured


def _line(what: str, figures: dict[str, float]) -> str:
    return f"{what}: " + " ".join(f"{name}={value:.4f}" for name, value in figures.items())
