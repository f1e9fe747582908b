"""The house rules that no linter knows: sizes, exact pins, licences.

`python -m deploy.local.house` prints every breach and exits 1 when there is one.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from deploy.local.generated.licences import copyleft

ROOT = Path(__file__).resolve().parents[2]
CODE = ("libs", "services", "deploy", "eval", "bench")
MAX_MODULE_LINES = 300
MAX_WIRING_LINES = 40
MAX_MAKEFILE_LINES = 120


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def long_modules(root: Path) -> Iterator[str]:
    """Modules over 300 lines, and a service's `app.py` over 40: split them by idea."""
    for folder in CODE:
        for path in sorted((root / folder).rglob("*.py")):
            wiring = path.name == "app.py" and path.parent.parent == root / "services"
            bound = MAX_WIRING_LINES if wiring else MAX_MODULE_LINES
            if (count := _lines(path)) > bound:
                yield f"{path.relative_to(root)} has {count} lines, at most {bound} are allowed"


def long_makefile(root: Path) -> Iterator[str]:
    """A Makefile over 120 lines."""
    if (count := _lines(root / "Makefile")) > MAX_MAKEFILE_LINES:
        yield f"Makefile has {count} lines, at most {MAX_MAKEFILE_LINES} are allowed"


def loose_pins(root: Path) -> Iterator[str]:
    """Pins that are not exact, or that name a host."""
    for number, line in enumerate((root / "constraints.txt").read_text().splitlines(), 1):
        text = line.partition("#")[0].strip()
        if text and ("://" in text or "==" not in text):
            yield f"constraints.txt:{number} is not an exact pin of a name: {text}"


def breaches(root: Path = ROOT) -> list[str]:
    """Every breach of the house rules below `root`, one sentence each."""
    return [*long_modules(root), *long_makefile(root), *loose_pins(root), *copyleft(root)]


def main() -> int:
    """Print the breaches; the number to exit with."""
    found = breaches()
    for breach in found:
        print(breach)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
