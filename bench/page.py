"""`docs/speed.md`, written from the figures of runs that are kept beside it."""

import json
import os
import time
from dataclasses import asdict
from pathlib import Path

from bench.measure import Figure

FIGURES = Path("bench/figures.json")
PAGE = Path("docs/speed.md")
TITLES = {
    "start": "Start and memory",
    "bus": "Bus",
    "parser": "Parser",
    "pipeline": "From upload to searchable",
    "search": "Search",
    "analysis": "Query analysis",
}
_HEAD = """# Speed and memory

Every ratio is measured against its baseline within one run, since machines differ and are shared:
raw calls of the libraries underneath, or the same work without the part that is looked at. `≤` and
`≥` say what bar the ratio, or the figure, should keep. `python -m bench PART` measures again, and
with `--write-docs` writes this page.
"""


def kept() -> dict[str, dict[str, object]]:
    """Figures of the last written run of each part, as `FIGURES` holds them."""
    if not FIGURES.exists():
        return {}
    found: dict[str, dict[str, object]] = json.loads(FIGURES.read_text())
    return found


def write(runs: dict[str, list[Figure]]) -> Path:
    """Keep the figures of these parts beside those of others, and write the page."""
    parts = kept()
    for part, figures in runs.items():
        parts[part] = {
            "day": time.strftime("%Y-%m-%d", time.gmtime()),
            "cores": os.cpu_count(),
            "figures": [asdict(figure) for figure in figures],
        }
    FIGURES.write_text(json.dumps(dict(sorted(parts.items())), indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(render(parts))
    return PAGE


def render(parts: dict[str, dict[str, object]]) -> str:
    """The page: a section a part, in the order in which they are run."""
    order = [*TITLES, *sorted(set(parts) - set(TITLES))]
    return "\n".join([_HEAD, *(_section(part, parts[part]) for part in order if part in parts)])


def _section(part: str, run: dict[str, object]) -> str:
    lines = [
        f"## {TITLES.get(part, part.capitalize())}",
        "",
        f"`python -m bench {part}`, {run['day']}, {run['cores']} cores.",
        "",
        "| | measured | baseline | ratio | bar |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in map(_figure, run["figures"]):  # type: ignore[call-overload]
        ratio = "" if one.ratio is None else f"{one.ratio:.2f}"
        lines.append(f"| {one.name} | {one.measured} | {one.baseline} | {ratio} | {one.bar} |")
    return "\n".join([*lines, ""])


def _figure(fields: dict[str, object]) -> Figure:
    return Figure(**fields)  # type: ignore[arg-type]
