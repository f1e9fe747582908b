"""`python -m bench [PART …] [--write-docs]`: all parts of one machine, or those named; figures
into the page."""

import importlib
import sys

from bench import page
from bench.measure import Figure, Report
from deploy.local.preload import one_thread_each

PARTS = ("start", "bus", "parser", "pipeline", "search", "analysis")
NAMED = ("fairness", "stack")
"""Run only when they are asked for: minutes of mostly waiting, and the real servers."""


def main() -> None:
    """Run, print as figures come, and save the report."""
    wanted = [word for word in sys.argv[1:] if word != "--write-docs"] or list(PARTS)
    unknown = [name for name in wanted if name not in (*PARTS, *NAMED)]
    if unknown:
        raise SystemExit(
            f"no benchmark {', '.join(unknown)}: choose from {', '.join((*PARTS, *NAMED))}"
        )
    one_thread_each()
    print(Figure("figure", "measured", "baseline", None, "bar").line())
    report = Report()
    runs = {}
    for name in wanted:
        before = len(report.figures)
        importlib.import_module(f"bench.{name}").run(report)
        runs[name] = report.figures[before:]
    print(f"saved {report.save()}")
    if "--write-docs" in sys.argv:
        print(f"written {page.write(runs)}")


if __name__ == "__main__":
    main()
