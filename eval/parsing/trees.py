"""Similarity of labelled ordered trees by their edit distance."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from apted import APTED, Config  # type: ignore[import-untyped]
from rapidfuzz.distance import Levenshtein


@dataclass(eq=False)
class Node:
    """A node: `label` must be equal to be the same kind of node, `text` may be alike."""

    label: Hashable
    text: str = ""
    children: list["Node"] = field(default_factory=list)

    def size(self) -> int:
        """How many nodes there are, itself included."""
        return 1 + sum(child.size() for child in self.children)


def edit_distance(first: Node, second: Node) -> float:
    """The least cost to turn one tree into the other.

    Inserting or deleting a node costs 1; renaming costs 1 between labels that differ, and
    else the distance of the two texts. Computed by APTED (Pawlik and Augsten, "Tree edit
    distance: Robust and memory-efficient", Information Systems 56, 2016).
    """
    return float(APTED(first, second, _Costs()).compute_edit_distance())


def text_distance(first: str, second: str) -> float:
    """Levenshtein distance over the length of the longer text, 0 to 1."""
    return _text_distance(first, second) if first != second else 0.0


@lru_cache(maxsize=1 << 18)
def _text_distance(first: str, second: str) -> float:
    return Levenshtein.normalized_distance(first, second)


class _Costs(Config):  # type: ignore[misc]
    valuecls = float

    def rename(self, node1: Any, node2: Any) -> float:
        if node1.label != node2.label:
            return 1.0
        return text_distance(node1.text, node2.text)
