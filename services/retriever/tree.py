"""The section tree of a revision as navigation walks it: pure."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from libs.contracts.artefacts.nav import NavSection

COLLECTION = 40
"""Sections of one level, from the next on they are no parts of one text."""

Worth = Callable[[NavSection], float]


@dataclass(frozen=True)
class Reached:
    """A section, so many steps from where the walk began, and whether it was opened."""

    section: NavSection
    steps: int
    opened: bool


@dataclass
class Tree:
    """A section tree with its parents, and which section a chunk stands in."""

    root: NavSection
    parents: dict[str, NavSection] = field(default_factory=dict)
    holding: dict[str, NavSection] = field(default_factory=dict)

    def __post_init__(self) -> None:
        waiting = [self.root]
        while waiting:
            section = waiting.pop()
            self.holding.update(dict.fromkeys(section.chunk_ids, section))
            for child in section.children:
                self.parents[child.section_id] = section
                waiting.append(child)

    def around(self, section: NavSection) -> Iterator[NavSection]:
        """What is below a section, then beside it, then above. A level of very many sections
        is a collection, in which one says nothing of the next."""
        parent = self.parents.get(section.section_id)
        if len(section.children) <= COLLECTION:
            yield from section.children
        if parent is not None:
            if len(parent.children) <= COLLECTION:
                yield from (one for one in parent.children if one.section_id != section.section_id)
            yield parent

    def walk(
        self, start: NavSection, worth: Worth, *, width: int, depth: int, most: int
    ) -> list[Reached]:
        """Breadth first from `start`, which is not among what is reached: of the sections around
        each one the `width` worth most are opened, while they are worth more than nothing, at
        most `most` in all and `depth` steps away. Of those that are worth something and stay
        closed the best `width` around each one are named too. Equal ones in document order.
        """
        reached: list[Reached] = []
        seen = {start.section_id}
        waiting = deque([(start, 0)])
        opened = 0
        while waiting and opened < most:
            section, steps = waiting.popleft()
            if steps == depth:
                continue
            fresh = [one for one in self.around(section) if one.section_id not in seen]
            seen.update(one.section_id for one in fresh)
            values = [(worth(one), one) for one in fresh]
            best = sorted(
                (pair for pair in values if pair[0] > 0), key=lambda p: (-p[0], p[1].order)
            )
            for place, (_, one) in enumerate(best[: 2 * width]):
                opens = place < width and opened < most
                reached.append(Reached(one, steps + 1, opens))
                if opens:
                    opened += 1
                    waiting.append((one, steps + 1))
        return reached
