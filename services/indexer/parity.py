"""Proof, before a flip, that every store holds the revision as `chunks.json` has it."""

from dataclasses import dataclass

from libs.runtime.index.port import Digest


class ParityError(RuntimeError):
    """A store holds something else than `chunks.json`: a fault of ours, never flipped to."""


@dataclass(frozen=True)
class Held:
    """What a store says it holds, in its own words; compared with what it should hold."""

    store: str
    expected: tuple[int, str]
    found: tuple[int, str]
    unit: str = "chunks"


def held_chunks(store: str, expected: Digest, found: Digest) -> Held:
    """A store of chunks."""
    return Held(store, (expected.count, expected.digest), (found.count, found.digest))


def prove(revn: int, *stores: Held) -> None:
    """Raise `ParityError` naming the first store that disagrees, with both counts."""
    for held in stores:
        if held.found == held.expected:
            continue
        (wanted, _), (count, _) = held.expected, held.found
        how = f"{count} {held.unit} where {wanted} belong"
        if count == wanted:
            how = f"{count} {held.unit} as expected, but other ones"
        raise ParityError(f"revision {revn}: the {held.store} holds {how}")
