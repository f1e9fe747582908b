"""`python -m eval.fuzz --data FOLDER`: mutated files of every format through the parser."""

import argparse
import asyncio
import logging
import sys
from pathlib import Path

import structlog

from eval.fuzz.run import Report, fuzz, inputs, sources


def main() -> int:
    """Run, print the ends by format; 1 when something was no document's fault, 2 without files."""
    options = _options()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    files = sources(options.data.absolute())
    if options.formats:
        files = {s: paths for s, paths in files.items() if s in options.formats.split(",")}
    if not files:
        print("nothing to mutate: no files of these formats below the data folder", file=sys.stderr)
        return 2
    given = inputs(files, options.each, options.seed)
    report = asyncio.run(fuzz(given, jobs=options.jobs, seconds=options.seconds, keep=options.keep))
    _print(report)
    return 0 if report.ok else 1


def _print(report: Report) -> None:
    for suffix, ends in sorted(report.ends.items()):
        shown = ", ".join(f"{end} {count}" for end, count in ends.most_common())
        print(f"{suffix:<6} {ends.total():>5}  {shown}")
    for line in (*report.broken, *report.crashed):
        print(f"failed: {line}")
    total = sum(ends.total() for ends in report.ends.values())
    seconds, name = report.slowest
    print(
        f"{total} files; hung workers {report.hung}; fork servers lost {report.lost}; "
        f"bugs {len(report.broken)}; contained crashes {len(report.crashed)}; "
        f"slowest {seconds:.1f} s: {name}"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="eval.fuzz", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of real files")
    parser.add_argument("--each", type=int, default=200, help="mutated files of every format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formats", help="suffixes, separated by commas; all by default")
    parser.add_argument("--seconds", type=float, default=420.0, help="when to stop at the latest")
    parser.add_argument("--jobs", type=int, default=2, help="files at once")
    parser.add_argument("--keep", type=Path, help="folder for inputs that failed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
