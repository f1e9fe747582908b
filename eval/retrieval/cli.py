"""The command line of `eval/run_eval.py`."""

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval.retrieval import baseline
from eval.retrieval.config import MODES, ConfigError, EvalConfig, load_config
from eval.retrieval.measure import Measured, Run, measure
from eval.retrieval.model import Mode
from eval.retrieval.quality import write_quality
from eval.retrieval.report import case_lines, summarise
from eval.retrieval.services import IngestFailed
from eval.retrieval.summary import rounded
from libs.contracts.trace.redaction import Redaction

ROOT = Path(__file__).resolve().parents[2]
SUMMARY = "eval_summary.json"
LOST, BROKEN = 1, 2


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    config: Path
    data: Path | None
    out: Path
    run: str | None
    keep: Path | None
    modes: tuple[Mode, ...]
    limit: int | None
    redact_trace: Redaction | None
    gate: bool
    write_baseline: bool


def main(arguments: Sequence[str]) -> int:
    """Run what the arguments say: 0, 1 when the gate found a loss, 2 when nothing could be
    measured."""
    options = _options(arguments)
    signal.signal(signal.SIGTERM, _end)
    try:
        config = load_config(options.config)
        run = _run(options, config)
        run.folder.mkdir(parents=True, exist_ok=True)
        measured, skipped = asyncio.run(measure(run))
    except (ConfigError, IngestFailed) as error:
        print(error, file=sys.stderr)
        return BROKEN
    if not measured:
        print("nothing to measure: no set of this configuration is here", file=sys.stderr)
        return BROKEN
    summary = summarise(run.name, config, measured, skipped, options.redact_trace)
    passed = _gate(config, measured, summary) if options.gate else True
    told = json.dumps(rounded(summary), indent=1, ensure_ascii=False) + "\n"
    for target in (run.folder / SUMMARY, options.out / SUMMARY):
        target.write_text(told, "utf-8")
    lines = "".join(json.dumps(rounded(line)) + "\n" for line in case_lines(measured))
    (run.folder / "cases.jsonl").write_text(lines, "utf-8")
    print(f"written: {run.folder / SUMMARY}")
    if options.write_baseline:
        baseline.store(baseline.path_of(config.name), measured, summary)
        print(f"written: {baseline.path_of(config.name)}, {write_quality()}")
    return 0 if passed else LOST


def _run(options: Options, config: EvalConfig) -> Run:
    name = options.run or f"{config.name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    return Run(
        name=name,
        config=config,
        beside=options.config.parent,
        data=options.data or (ROOT / config.data),
        folder=options.out / "traces" / name,
        keep=options.keep,
        modes=options.modes,
        limit=options.limit,
        redaction=options.redact_trace,
        tell=_tell,
    )


def _gate(config: EvalConfig, measured: list[Measured], summary: dict[str, Any]) -> bool:
    """Compare with the stored baseline; whether nothing was lost."""
    path = baseline.path_of(config.name)
    stored = baseline.read(path)
    if stored is None:
        verdict = baseline.Verdict(0, [f"no baseline at {path}: make one by --write-baseline"])
    else:
        verdict = baseline.gate(stored, measured, config.seed)
    summary["gate"] = verdict.as_dict()
    for loss in verdict.losses:
        print(f"lost: {loss}")
    if not verdict.losses:
        print(f"gate: no significant loss in {verdict.compared} figures")
    return not verdict.losses


def _end(number: int, _frame: object) -> None:
    """Leave by way of what must be stopped and removed first; a second call changes nothing."""
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _tell(line: str) -> None:
    print(line, flush=True)


def _options(arguments: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(
        prog="run_eval.py",
        description="Measure retrieval through the running services, over sets of questions.",
    )
    parser.add_argument("--config", type=Path, required=True, help="which sets, and how")
    parser.add_argument("--data", type=Path, help="folder of the sets, in place of the configured")
    parser.add_argument(
        "--out", type=Path, default=Path("reports"),
        help="where the last summary goes, and traces/RUN with all that a run writes",
    )  # fmt: skip
    parser.add_argument("--run", help="name of the run; the configuration's and the time without")
    parser.add_argument(
        "--redact_trace", choices=("all", "doc_ids"), help="what is masked in written traces"
    )
    parser.add_argument(
        "--gate", action="store_true", help="exit 1 on a significant loss against the baseline"
    )
    parser.add_argument(
        "--write-baseline", action="store_true",
        help="store this run as the baseline, and write docs/quality-retrieval.md anew",
    )  # fmt: skip
    parser.add_argument(
        "--keep", type=Path, help="folder of the stack, kept: a set is published there once"
    )
    parser.add_argument(
        "--modes", type=_modes, default=MODES, metavar="MODES", help=f"of {','.join(MODES)}"
    )
    parser.add_argument("--limit", type=int, help="only so many cases of each set")
    return Options(**vars(parser.parse_args(arguments)))


def _modes(text: str) -> tuple[Mode, ...]:
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in MODES]:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}")
    return tuple(mode for mode in MODES if mode in names)
