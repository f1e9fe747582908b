"""A corpus of passages as few documents of raw fragments: each passage a section of its own,
known again by its page.

Thousands of documents of one paragraph would measure the pipeline; packed, the same pieces
reach the same indices through the same services in a fraction of the time.
"""

import heapq
import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval.retrieval.model import Passage

PART = 500


@dataclass(frozen=True)
class Part:
    """One document: its id, and its passages; page n holds the n-th of them.

    The id is a word of its own that no passage holds: the index adds a document's title to
    the text of its pieces.
    """

    document_id: str
    passages: Sequence[Passage]

    @property
    def file_name(self) -> str:
        """The name under which it is sent."""
        return f"{self.document_id}.jsonl"

    def fragments(self) -> bytes:
        """The document: a line a passage."""
        lines = (
            {
                "type": "text",
                "content": passage.text,
                "path": [_heading(passage)],
                "page": page,
            }
            for page, passage in enumerate(self.passages, 1)
        )
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def pack(passages: Sequence[Passage], size: int = PART) -> list[Part]:
    """Parts of at most `size` passages; neighbours in a part never have the same heading,
    since fragments of one heading are one section."""
    groups: list[list[Passage]] = [[]]
    for passage in apart(passages):
        last = groups[-1]
        if last and (len(last) >= size or _heading(last[-1]) == _heading(passage)):
            groups.append(last := [])
        last.append(passage)
    return [Part(f"p{n:04}x", group) for n, group in enumerate(groups, 1) if group]


def apart(passages: Sequence[Passage]) -> Iterator[Passage]:
    """The passages in an order in which equal headings are no neighbours, where there is one:
    the heading with most passages left comes next, unless it came just before."""
    waiting: dict[str, deque[Passage]] = {}
    for passage in passages:
        waiting.setdefault(_heading(passage), deque()).append(passage)
    heap = [(-len(some), order, head) for order, (head, some) in enumerate(waiting.items())]
    heapq.heapify(heap)
    held: tuple[int, int, str] | None = None
    while heap or held:
        if not heap:
            assert held is not None
            heap, held = [held], None
        left, order, head = heapq.heappop(heap)
        yield waiting[head].popleft()
        if held is not None:
            heapq.heappush(heap, held)
        held = (left + 1, order, head) if left + 1 else None


def _heading(passage: Passage) -> str:
    return " ".join(passage.title.split()) or passage.passage_id
