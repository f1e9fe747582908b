"""`python -m bench [start bus parser pipeline search analysis]`: all, or those named."""

import sys

from bench import analysis, bus, parser, pipeline, search, start
from bench.measure import Figure, Report

PARTS = {
    "start": start.run,
    "bus": bus.run,
    "parser": parser.run,
    "pipeline": pipeline.run,
    "search": search.run,
    "analysis": analysis.run,
}


def main() -> None:
    """Run, print as figures come, and save the report."""
    wanted = sys.argv[1:] or list(PARTS)
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        raise SystemExit(f"no benchmark {', '.join(unknown)}: choose from {', '.join(PARTS)}")
    print(Figure("figure", "measured", "baseline", None, "bar").line())
    report = Report()
    for name in wanted:
        PARTS[name](report)
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main()
