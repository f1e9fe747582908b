"""How deep the items of a list lie on a page, by where their markers stand."""

from dataclasses import dataclass, field

from services.parser.formats.pdf_blocks import Block

INDENT = 0.8
"""White space, in ems, by which a marker of a list inside another stands further right."""


@dataclass
class Indents:
    """The lists that are open above the next block of a column, outermost first."""

    starts: list[float] = field(default_factory=list)

    def level(self, item: Block) -> int:
        """The level of the next item, 1 the outermost."""
        self._close(item)
        if not self.starts or item.x0 > self.starts[-1] + INDENT * item.em:
            self.starts.append(item.x0)
        return len(self.starts)

    def pass_by(self, block: Block) -> None:
        """Text that is no item ends the lists that it does not stand inside."""
        self._close(block)
        if self.starts and block.x0 <= self.starts[-1] + INDENT * block.em:
            self.starts.pop()

    def _close(self, block: Block) -> None:
        while self.starts and block.x0 < self.starts[-1] - INDENT * block.em:
            self.starts.pop()
