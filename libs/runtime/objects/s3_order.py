"""The order of listings."""

import heapq
from collections.abc import Iterable, Iterator


def in_key_order(keys: Iterable[str], prefix: str) -> Iterator[str]:
    """Keys below `prefix` that come in the order of a tree walk, in the order of whole keys.

    A walk gives `a/z` before `a-b`, because it compares folder by folder; as whole keys
    they sort the other way. Holds back what lies in one folder directly below `prefix`.
    """
    held: list[str] = []
    for key in keys:
        first = key[: len(prefix)] + key[len(prefix) :].partition("/")[0]
        while held and held[0] < first:
            yield heapq.heappop(held)
        heapq.heappush(held, key)
    while held:
        yield heapq.heappop(held)
