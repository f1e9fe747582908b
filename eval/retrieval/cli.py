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

from eval.retrieval.config import MODES, ConfigError, load_config
from eval.retrieval.measure import Run, measure
from eval.retrieval.model import Mode
from eval.retrieval.summary import rounded

ROOT = Path(__file__).resolve().parents[2]
NOTHING, BROKEN = 2, 2


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


def main(arguments: Sequence[str]) -> int:
    """Run what the arguments say; 0, or 2 when nothing could be measured."""
    options = _options(arguments)
    signal.signal(signal.SIGTERM, _end)
    try:
        config = load_config(options.config)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return BROKEN
    run = Run(
        name=options.run or f"{config.name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}",
        config=config,
        beside=options.config.parent,
        data=options.data or (ROOT / config.data),
        keep=options.keep,
        modes=options.modes,
        limit=options.limit,
        tell=_tell,
    )
    summary = asyncio.run(measure(run))
    if not summary["corpus"]:
        print("nothing to measure: no set of this configuration is here", file=sys.stderr)
        return NOTHING
    target = options.out / run.name / "eval_summary.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(rounded(summary), indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"written: {target}")
    return 0


def _end(number: int, _frame: object) -> None:
    """Leave by way of what must be stopped and removed first."""
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
        "--out", type=Path, default=Path("reports/traces"), help="a folder a run comes below it"
    )
    parser.add_argument("--run", help="name of the run; the configuration's and the time without")
    parser.add_argument(
        "--keep", type=Path, help="folder of the stack, kept: a set is published there once"
    )
    parser.add_argument("--modes", type=_modes, default=MODES, help=f"of {','.join(MODES)}")
    parser.add_argument("--limit", type=int, help="only the first so many cases of each set")
    return Options(**vars(parser.parse_args(arguments)))


def _modes(text: str) -> tuple[Mode, ...]:
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in MODES]:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}")
    return tuple(mode for mode in MODES if mode in names)
