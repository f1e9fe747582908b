"""MHS: are the headings of a Markdown text where they belong, with their content below them?"""

import re

from eval.parsing.nid import collapse, tables_as_html
from eval.parsing.trees import Node, edit_distance

_HEADING = re.compile(r"#{1,6}\s+(?P<title>.*)")


def mhs(truth: str, found: str) -> float | None:
    """Markdown heading similarity; None when the truth has no heading.

    `1 - D / max(|truth|, |found|)` over trees of a document node whose children are the
    headings, all levels alike, each with the text below it as one child (text before the
    first heading is a child of the document). D is the tree edit distance, the texts of two
    nodes cost their normalised Levenshtein distance. As the opendataloader-bench documents it
    (its README, 3.3), after Chen et al., "MDEval", arXiv:2501.15000, 2025. 0 when no heading
    was found at all.
    """
    expected = heading_tree(truth)
    if not _has_heading(expected):
        return None
    tree = heading_tree(found)
    if not _has_heading(tree):
        return 0.0
    size = max(expected.size(), tree.size())
    return max(0.0, 1 - edit_distance(expected, tree) / size)


def heading_tree(markdown: str) -> Node:
    """The document node with its headings and their content."""
    root = Node("document")
    parent = root
    lines: list[str] = []

    def close() -> None:
        text = collapse(" ".join(lines))
        if text:
            parent.children.append(Node("content", text))
        lines.clear()

    for line in tables_as_html(markdown).splitlines():
        match = _HEADING.fullmatch(line)
        if match is None:
            lines.append(line)
            continue
        close()
        parent = Node("heading", collapse(match["title"]))
        root.children.append(parent)
    close()
    return root


def _has_heading(tree: Node) -> bool:
    return any(child.label == "heading" for child in tree.children)
