"""The pages of PDFs as passages, by pypdfium2: what the peers rank, and what is judged."""

from collections.abc import Sequence
from pathlib import Path

from eval.retrieval.model import Passage
from libs.contracts.api.search import Evidence


def page_texts(pdf: Path) -> list[str]:
    """The text of each page."""
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf)  # type: ignore[no-untyped-call]
    try:
        return [page.get_textpage().get_text_range() for page in document]
    finally:
        document.close()  # type: ignore[no-untyped-call]


def page_place(file_name: str, page: int) -> str:
    """A page in the terms of the judgements."""
    return f"{file_name}#{page}"


def page_passages(files: Sequence[Path]) -> list[Passage]:
    """Every page of every file."""
    return [
        Passage(page_place(file.name, number), "", text)
        for file in files
        for number, text in enumerate(page_texts(file), 1)
    ]


def places_on_pages(evidence: Evidence) -> tuple[str, ...]:
    """The pages on which a piece stands."""
    return tuple(page_place(evidence.source_file_name, page) for page in evidence.page_numbers)
