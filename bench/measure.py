"""How a benchmark measures and reports."""

import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

REPORTS = Path("reports")


def percentile(values: list[float], share: float) -> float:
    """The value below which `share` (0…1) of `values` lie, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(frozen=True)
class Figure:
    """One line of the report; `ratio` is measured / baseline and `bar` its limit."""

    name: str
    measured: str
    baseline: str = ""
    ratio: float | None = None
    bar: str = ""

    def line(self) -> str:
        """The line as printed."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        return f"{self.name:<46} {self.measured:>24} {self.baseline:>24} {ratio:>7} {self.bar:>8}"


@dataclass
class Report:
    """Figures as they come."""

    figures: list[Figure] = field(default_factory=list)

    def add(self, figure: Figure) -> None:
        """Keep and print a figure."""
        self.figures.append(figure)
        print(figure.line(), flush=True)

    def save(self) -> Path:
        """Write `reports/bench.json`."""
        REPORTS.mkdir(exist_ok=True)
        path = REPORTS / "bench.json"
        path.write_text(json.dumps([asdict(f) for f in self.figures], indent=1) + "\n")
        return path


async def timed(call: Callable[[], Awaitable[object]], times: int) -> list[float]:
    """Milliseconds of each of `times` calls, one after the other."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        await call()
        taken.append(1000 * (time.perf_counter() - started))
    return taken


def spread(values: list[float]) -> str:
    """`p50 / p95 ms`."""
    return f"{percentile(values, 0.5):.1f} / {percentile(values, 0.95):.1f} ms"
