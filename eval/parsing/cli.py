"""The command line of `eval/run_parse.py`."""

import argparse
import asyncio
import logging
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import structlog

from eval.parsing.isolated import Scorer, isolated, scorer
from eval.parsing.model import Case, Score
from eval.parsing.ours import WithoutWeight, groundwire
from eval.parsing.peers import PEERS, Peer
from eval.parsing.quality import render
from eval.parsing.run import Engine, Run, run
from eval.parsing.sets import SETS, load_set
from eval.parsing.summary import summarise, worst, write_summary

ROOT = Path(__file__).resolve().parents[2]
QUALITY = ROOT / "docs" / "quality.md"
OURS, PEER = "groundwire", "peer:"
GUARD_SET = "opendataloader-rerendered"
WORST_BY = {
    "opendataloader-rerendered": ("nid", "teds", "mhs"),
    "icdar2013-tables": ("cell_recall", "cell_precision"),
    "manuals": ("heading_recall", "heading_precision", "heading_levels"),
    "tika-asserted": ("strings_found", "strings_kept_out"),
    "markitdown": ("strings_found", "strings_kept_out"),
    "docling-tests": ("read",),
}
LIBRARIES = ("liteparse", "pypdfium2", "docling-slim", "openpyxl", "python-calamine", "unhwp")


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    engine: str
    data: Path
    out: Path
    sets: tuple[str, ...]
    peers: tuple[str, ...]
    limit: int | None
    jobs: int
    hide_weight: bool
    keep: bool
    write_docs: bool


@dataclass(frozen=True)
class Measured:
    """What every engine is measured over: the sets, who scores, scratch, kept Markdown."""

    sets: Mapping[str, Sequence[Case]]
    scorer: Scorer
    scratch: Path
    keep: Path | None


def main(arguments: Sequence[str]) -> int:
    """Run what the arguments say; 0, or 2 when there was nothing to measure."""
    options = _options(arguments)
    _only_errors()
    with tempfile.TemporaryDirectory(prefix="groundwire-eval-") as scratch:
        summary = asyncio.run(_measure(options, Path(scratch)))
    if summary is None:
        print("nothing to measure: no set was found below the data folder", file=sys.stderr)
        return 2
    print(f"written: {write_summary(options.out, summary)}")
    if options.write_docs:
        QUALITY.write_text(render(summary), "utf-8")
        print(f"written: {QUALITY.relative_to(ROOT)}")
    return 0


def _only_errors() -> None:
    """Failures of files are results here; the log would only repeat them."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))


async def _measure(options: Options, scratch: Path) -> dict[str, Any] | None:
    loaded = {name: load_set(name, options.data, scratch) for name in options.sets}
    skipped = [reason for one in loaded.values() for reason in one.skipped]
    for reason in skipped:
        print(f"skipped: {reason}")
    sets: dict[str, Sequence[Case]] = {
        name: one.cases[: options.limit] for name, one in loaded.items() if one.cases
    }
    if not sets:
        return None
    keep = options.out / "markdown" if options.keep else None
    async with scorer(scratch, options.jobs) as scores:
        measured = Measured(sets, scores, scratch, keep)
        ours, guard = await _under_test(options, measured)
        peers, absent = await _peers([PEERS[name] for name in options.peers], measured)
    _print_worst(ours)
    versions = {name: version(name) for name in LIBRARIES}
    versions |= {name: PEERS[name].version() for name in options.peers if name not in absent}
    return summarise(ours, peers, versions=versions, absent=absent, skipped=skipped, guard=guard)


async def _under_test(options: Options, measured: Measured) -> tuple[Run, Run | None]:
    if options.engine != OURS:
        return await _peer(PEERS[options.engine.removeprefix(PEER)], measured), None
    async with groundwire(options.jobs) as engine:
        ours = await _run(engine.name, engine, measured, measured.sets, options.jobs)
        if not options.hide_weight or GUARD_SET not in measured.sets:
            return ours, None
        blind = WithoutWeight(engine)
        cases = {GUARD_SET: measured.sets[GUARD_SET]}
        return ours, await _run(blind.name, blind, measured, cases, options.jobs)


async def _peers(peers: Sequence[Peer], measured: Measured) -> tuple[list[Run], dict[str, str]]:
    runs, absent = [], {}
    for peer in peers:
        if (reason := peer.missing()) is not None:
            absent[peer.name] = reason
            print(f"skipped: {peer.name}: {reason}")
        else:
            runs.append(await _peer(peer, measured))
    return runs, absent


async def _peer(peer: Peer, measured: Measured) -> Run:
    cases = {name: some for name, some in measured.sets.items() if name in peer.sets}
    async with isolated(peer, measured.scratch) as engine:
        return await _run(peer.name, engine, measured, cases, 1)


async def _run(
    name: str, engine: Engine, measured: Measured, sets: Mapping[str, Sequence[Case]], jobs: int
) -> Run:
    return await run(name, engine, sets, measured.scorer, jobs=jobs, keep=measured.keep, tell=_tell)


def _tell(engine: str, done: Score) -> None:
    shown = " ".join(f"{key}={value:.3f}" for key, value in done.metrics.items())
    print(f"{engine}: {done.set_name}/{done.name} {shown}", flush=True)


def _print_worst(ours: Run) -> None:
    for name, scores in ours.scores.items():
        for metric in WORST_BY.get(name, ()):
            for one in worst(scores, metric):
                print(f"worst {name} {metric} {one.metrics[metric]:.3f} {one.name}")
                for note in one.notes[:4]:
                    print(f"      {note}")


def _options(arguments: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(
        prog="run_parse.py",
        description="Measure the parser over sets of real files, and other parsers beside it.",
    )
    parser.add_argument(
        "--engine", default=OURS, choices=(OURS, *(PEER + name for name in PEERS)),
        metavar="ENGINE", help=f"what is measured: {OURS}, or {PEER}NAME for one of the peers",
    )  # fmt: skip
    parser.add_argument(
        "--data", type=Path, required=True, help="folder that holds the sets, or its parent"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("reports/parsing"), help="where the summary goes"
    )
    parser.add_argument(
        "--sets", type=_names(SETS), default=SETS, help=f"of {','.join(SETS)}; all by default"
    )
    parser.add_argument(
        "--peers", type=_names(tuple(PEERS)), default=(), metavar="PEERS",
        help=f"other parsers to run as well, of {','.join(PEERS)}",
    )  # fmt: skip
    parser.add_argument("--limit", type=int, help="only the first so many files of each set")
    parser.add_argument("--jobs", type=int, default=1, help="files parsed at once")
    parser.add_argument(
        "--hide-weight", action="store_true",
        help="parse the redrawn pages once more with the weight of fonts hidden",
    )  # fmt: skip
    parser.add_argument("--keep", action="store_true", help="keep the Markdown of every file")
    parser.add_argument("--write-docs", action="store_true", help="write docs/quality.md anew")
    options = Options(**vars(parser.parse_args(arguments)))
    return replace(options, data=options.data.absolute())


def _names(known: Sequence[str]) -> Any:
    def parse(text: str) -> tuple[str, ...]:
        names = tuple(name.strip() for name in text.split(",") if name.strip())
        if unknown := [name for name in names if name not in known]:
            raise argparse.ArgumentTypeError(
                f"unknown: {', '.join(unknown)}; known are {', '.join(known)}"
            )
        return names

    return parse
