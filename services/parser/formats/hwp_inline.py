"""Inline pieces of unhwp's documents: their text, style and level of the outline."""

from typing import Any


def text_and_style(inline: Any) -> tuple[str, dict[str, Any]]:
    """The text of one inline piece of any kind, and its character style where it has one."""
    if isinstance(inline, str):
        return ("\n" if inline == "LineBreak" else ""), {}
    kind, body = next(iter(inline.items()), ("", None))
    if kind in {"Image", "Footnote", "Endnote"} or body is None:
        return "", {}
    if kind == "LineBreak":
        return "\n", {}
    if isinstance(body, str):
        return body, {}
    if not isinstance(body, dict):
        return "", {}
    text = body.get("text") or body.get("latex") or body.get("script") or ""
    style = body.get("style")
    return (text if isinstance(text, str) else ""), (style if isinstance(style, dict) else {})


def outline_level(style: dict[str, Any]) -> int:
    """The level of a paragraph of the outline (`개요 1` is 1), 0 of any other."""
    head = style.get("head") or {}
    return int(head.get("level") or 0) + 1 if head.get("kind") == "Outline" else 0


def deep_text(node: Any) -> str:
    """Every text below a node, joined."""
    if isinstance(node, str):
        return node
    if isinstance(node, list):
        return " ".join(t for t in map(deep_text, node) if t)
    if isinstance(node, dict):
        if isinstance(node.get("text"), str):
            return str(node["text"])
        kept = {k: v for k, v in node.items() if k not in {"style", "id", "number"}}
        return " ".join(t for t in map(deep_text, kept.values()) if t)
    return ""
