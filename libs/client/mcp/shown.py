"""What agents are shown: nothing that only fills their context."""

from typing import Any

from libs.contracts.artefacts.nav import NavSection

Answer = dict[str, Any]


RELIED_ON = frozenset({"evidence", "section_path", "page_numbers"})
"""Fields that programs read without asking whether they are there: kept when they are empty."""


def filled(answer: Answer) -> Answer:
    """The answer without what says nothing, and with what is relied on."""
    return {
        key: value
        for key, value in answer.items()
        if key in RELIED_ON or value not in (None, "", [], {})
    }


def outlined(section: NavSection) -> Answer:
    """The section without what a choice does not need."""
    count = section.total_chunk_count
    shown: Answer = {"title": section.title, "path": section.path, "chunks": count}
    if section.summary:
        shown["summary"] = section.summary
    if section.page_numbers:
        shown["pages"] = [section.page_numbers[0], section.page_numbers[-1]]
    if section.resources:
        shown["resources"] = [
            {"chunk_id": r.chunk_id, "type": r.type, "title": r.title} for r in section.resources
        ]
    if section.children:
        shown["sections"] = [outlined(child) for child in section.children]
    return shown
