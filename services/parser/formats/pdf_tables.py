"""Ruled tables of a PDF page: rulings snapped to a grid, cells grown until a border stops them.

Words, not text items, go into cells: one item may reach over two cells. A grid counts as a
table when at least four of its cells hold text, or all cells of a small one; charts and boxes
hold less. What no rulings frame is left to `pdf_open_tables`.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from services.parser.formats.pdf_cells import drop_spacers, mark_headers, split_rows, text_lines
from services.parser.formats.pdf_open_tables import find_open_tables, read_again
from services.parser.formats.pdf_page import Area, Page, Segment, Table, Word

EPS = 2.5
"""Points within which rulings count as touching or as one."""
MIN_LINE = 8.0
MAX_LINES = 4_000
"""Rulings of one page after merging; a page with more is a drawing."""
MAX_CELLS = 20_000
MIN_FILLED = 4
MAX_FRAME = 0.25
"""Share of the page under which a grid of two or three cells, all filled, is a table."""

Line = tuple[float, float, float]


@dataclass
class Grid:
    """Rulings that touch each other: `across` along x at y, `down` along y at x."""

    across: list[Line] = field(default_factory=list)
    down: list[Line] = field(default_factory=list)


def find_tables(page: Page) -> list[Table]:
    """The ruled tables of the page, then those that white columns alone make."""
    found: list[Table] = []
    across, down = _merged(page.horizontal), _merged(page.vertical)
    if len(across) + len(down) <= MAX_LINES:
        for grid in _components(across, down):
            table = _table(grid, page)
            if table is not None:
                found.append(table)
    found = [t for t in found if not any(_inside(t, o) for o in found if o is not t)]
    found = [read_again(page, t) for t in found]
    return found + find_open_tables(page, found)


def take_words(page: Page, tables: Sequence[Table]) -> list[Segment]:
    """The segments outside the tables; one that reaches into a table is cut at its edge."""
    if not tables:
        return page.segments
    kept: list[Segment] = []
    for segment in page.segments:
        near = [t for t in tables if t.overlap(segment) > 0]
        if not near:
            kept.append(segment)
            continue
        words = segment.words()
        outside = [
            w
            for w in words
            if not any(t.holds((w.x0 + w.x1) / 2, (w.y0 + w.y1) / 2, 1) for t in near)
        ]
        if len(outside) == len(words):
            kept.append(segment)
        elif outside:
            kept.append(
                Segment(
                    min(w.x0 for w in outside),
                    segment.y0,
                    max(w.x1 for w in outside),
                    segment.y1,
                    " ".join(w.text for w in outside),
                    segment.em,
                    segment.bold,
                )
            )
    return kept


def _merged(lines: Iterable[Line]) -> list[Line]:
    """Collinear pieces that touch or nearly touch made one; short ones dropped."""
    merged: list[Line] = []
    group: list[Line] = []

    def close() -> None:
        if not group:
            return
        at = sum(g[2] for g in group) / len(group)
        low, high = None, 0.0
        for start, stop, _ in sorted(group):
            if low is None:
                low, high = start, stop
            elif start <= high + EPS + 1:
                high = max(high, stop)
            else:
                merged.append((low, high, at))
                low, high = start, stop
        if low is not None:
            merged.append((low, high, at))

    for line in sorted(lines, key=lambda item: item[2]):
        if group and line[2] - group[0][2] > EPS:
            close()
            group = []
        group.append(line)
    close()
    return [m for m in merged if m[1] - m[0] > MIN_LINE]


def _components(across: list[Line], down: list[Line]) -> list[Grid]:
    """Groups of rulings that touch, each a possible table."""
    parent = list(range(len(across) + len(down)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    across = sorted(across, key=lambda item: item[2])
    heights = [a[2] for a in across]
    for j, (top, bottom, x) in enumerate(down):
        for i in range(bisect_left(heights, top - EPS), len(across)):
            left, right, y = across[i]
            if y > bottom + EPS:
                break
            if left - EPS <= x <= right + EPS:
                parent[root(i)] = root(len(across) + j)
    grids: dict[int, Grid] = {}
    for i, line in enumerate(across):
        grids.setdefault(root(i), Grid()).across.append(line)
    for j, line in enumerate(down):
        grids.setdefault(root(len(across) + j), Grid()).down.append(line)
    return [g for g in grids.values() if len(g.across) >= 2 and g.down]


def _snap(values: Iterable[float]) -> list[float]:
    snapped: list[float] = []
    for value in sorted(values):
        if not snapped or value - snapped[-1] > EPS:
            snapped.append(value)
    return snapped


def _table(grid: Grid, page: Page) -> Table | None:
    xs = _snap(d[2] for d in grid.down)
    ys = _snap(a[2] for a in grid.across)
    left, right = min(a[0] for a in grid.across), max(a[1] for a in grid.across)
    open_sides = sum(1 for a in grid.across if a[0] < xs[0] - 12) >= 2
    if open_sides:
        xs.insert(0, left)
    if sum(1 for a in grid.across if a[1] > xs[-1] + 12) >= 2:
        xs.append(right)
    rows, columns = len(ys) - 1, len(xs) - 1
    if rows < 1 or columns < 1 or rows * columns < 2 or rows * columns > MAX_CELLS:
        return None
    area = Area(xs[0], ys[0], xs[-1], ys[-1])
    words = [w for s in page.segments if s.overlap(area) > 0 for w in s.words()]
    places = _grow(grid, xs, ys)
    texts = _fill(places, xs, ys, words)
    filled = sum(1 for lines in texts.values() if lines)
    framed = filled == len(texts) >= 2 and area.size < MAX_FRAME * page.width * page.height
    if filled < MIN_FILLED and not framed:
        return None
    cells = [(r, c, rs, cs, texts[(r, c)]) for (r, c), (rs, cs) in sorted(places.items())]
    cells = split_rows(cells)
    cells = drop_spacers(cells, ys, xs)
    return Table(area.x0, area.y0, area.x1, area.y1, cells=mark_headers(cells))


def _grow(grid: Grid, xs: list[float], ys: list[float]) -> dict[tuple[int, int], tuple[int, int]]:
    """Each cell's spans by its place: grown right, then down, until a border stops it."""
    rows, columns = len(ys) - 1, len(xs) - 1
    top = [[False] * columns for _ in range(rows + 1)]
    side = [[False] * (columns + 1) for _ in range(rows)]
    for start, stop, y in grid.across:
        r = _index(ys, y)
        for c in range(columns):
            if start - EPS <= xs[c] + 1 and xs[c + 1] - 1 <= stop + EPS:
                top[r][c] = True
    for start, stop, x in grid.down:
        c = _index(xs, x)
        for r in range(rows):
            if start - EPS <= ys[r] + 1 and ys[r + 1] - 1 <= stop + EPS:
                side[r][c] = True
    places: dict[tuple[int, int], tuple[int, int]] = {}
    used = [[False] * columns for _ in range(rows)]
    for r in range(rows):
        for c in range(columns):
            if used[r][c]:
                continue
            width = 1
            while c + width < columns and not side[r][c + width] and not used[r][c + width]:
                width += 1
            height = 1
            while (
                r + height < rows
                and not any(top[r + height][k] or used[r + height][k] for k in range(c, c + width))
                and not any(side[r + height][k] for k in range(c + 1, c + width))
            ):
                height += 1
            for i in range(r, r + height):
                for k in range(c, c + width):
                    used[i][k] = True
            places[(r, c)] = (height, width)
    return places


def _index(values: list[float], value: float) -> int:
    at = bisect_left(values, value)
    if at == len(values) or (at and value - values[at - 1] <= values[at] - value):
        return at - 1
    return at


def _fill(
    places: dict[tuple[int, int], tuple[int, int]],
    xs: list[float],
    ys: list[float],
    words: list[Word],
) -> dict[tuple[int, int], list[tuple[float, str]]]:
    """The text lines of each cell, as (middle y, text), top down."""
    owner: dict[tuple[int, int], tuple[int, int]] = {}
    for (r, c), (height, width) in places.items():
        for i in range(r, r + height):
            for k in range(c, c + width):
                owner[(i, k)] = (r, c)
    inside: dict[tuple[int, int], list[Word]] = {place: [] for place in places}
    for word in words:
        x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
        if xs[0] - 1 <= x <= xs[-1] + 1 and ys[0] - 1 <= y <= ys[-1] + 1:
            r = min(max(bisect_left(ys, y) - 1, 0), len(ys) - 2)
            c = min(max(bisect_left(xs, x) - 1, 0), len(xs) - 2)
            inside[owner[(r, c)]].append(word)
    return {place: text_lines(found) for place, found in inside.items()}


def _inside(table: Table, other: Table) -> bool:
    return table.overlap(other) > 0.9 * table.size and table.size < other.size
