"""`python -m bench [start bus parser pipeline search analysis]`: all, or those named."""

import importlib
import sys

from bench.measure import Figure, Report
from deploy.local.preload import one_thread_each

PARTS = ("start", "bus", "parser", "pipeline", "search", "analysis")


def main() -> None:
    """Run, print as figures come, and save the report."""
    wanted = sys.argv[1:] or list(PARTS)
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        raise SystemExit(f"no benchmark {', '.join(unknown)}: choose from {', '.join(PARTS)}")
    one_thread_each()
    print(Figure("figure", "measured", "baseline", None, "bar").line())
    report = Report()
    for name in wanted:
        importlib.import_module(f"bench.{name}").run(report)
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main()
