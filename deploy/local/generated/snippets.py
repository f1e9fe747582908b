"""Code in the documents comes from `docs/snippets/`, whose files are run by the tests."""

import re
from pathlib import Path

PAGES = tuple(Path(f"docs/{page}.md") for page in ("agents", "first-hour", "operators", "upstream"))
SNIPPETS = Path("docs/snippets")

_BLOCK = re.compile(r"(<!-- snippet: (\S+) -->\n```\w+\n).*?(^```$)", re.DOTALL | re.MULTILINE)


def render(root: Path) -> dict[Path, str]:
    """The pages with every marked block filled from its file."""

    def fill(block: re.Match[str]) -> str:
        return block[1] + (root / SNIPPETS / block[2]).read_text(encoding="utf-8") + block[3]

    return {page: _BLOCK.sub(fill, (root / page).read_text(encoding="utf-8")) for page in PAGES}
