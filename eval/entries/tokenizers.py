"""What the tokenizer is worth: BM25 alone over the same fields, by white space, by bigrams, and
by morphemes of kiwi where that is installed (`uv pip install kiwipiepy`)."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

from eval.entries.figures import DEEP, Case, Found
from eval.entries.sets import Question
from libs.runtime.index.tokenizer import TOKENIZERS

Tokenizer = Callable[[str], list[str]]
K1, B = 0.9, 0.4
_MEANT = ("N", "V", "M", "XR", "SL", "SN", "SH")
"""Tags of kiwi whose morphemes tell: nouns, verbs, modifiers, roots, other scripts, numbers."""


def kiwi() -> Tokenizer | None:
    """Morphemes that tell; None where kiwi is not installed."""
    if find_spec("kiwipiepy") is None:
        return None
    from kiwipiepy import Kiwi

    engine = Kiwi(num_workers=1)

    def morphemes(text: str) -> list[str]:
        found = engine.tokenize(text)
        return [token.form.casefold() for token in found if token.tag.startswith(_MEANT)]

    return morphemes


def fields(row: Mapping[str, str], tokenizer: Tokenizer) -> list[str]:
    """Name and keywords twice, the rest once, as the index is given them."""
    head = tokenizer("\n".join((row["name"], row.get("keywords") or "")))
    rest = [value for key, value in row.items() if key not in _APART and value]
    return [*head, *head, *tokenizer("\n".join(rest))]


_APART = frozenset({"id", "name", "keywords", "search_count"})


def ablation(
    entries: Sequence[Mapping[str, str]], questions: Sequence[Question]
) -> dict[str, list[Case] | None]:
    """What BM25 alone finds by tokenizer; None for one that is not installed."""
    chosen: dict[str, Tokenizer | None] = {**TOKENIZERS, "kiwi": kiwi()}
    return {name: one and _found(entries, questions, one) for name, one in chosen.items()}


def _found(
    entries: Sequence[Mapping[str, str]], questions: Sequence[Question], tokenizer: Tokenizer
) -> list[Case]:
    import bm25s

    retriever = bm25s.BM25(method="lucene", k1=K1, b=B)  # type: ignore[no-untyped-call]
    retriever.index([fields(row, tokenizer) or [""] for row in entries], show_progress=False)
    asked = [tokenizer(question.text) or [""] for question in questions]
    deep = min(DEEP, len(entries))
    found, scores = retriever.retrieve(asked, k=deep, show_progress=False)
    cases = []
    for question, row, worth in zip(questions, found, scores, strict=True):
        hits = [entries[int(n)] for n, score in zip(row, worth, strict=True) if score > 0]
        ranking = tuple(Found(hit["id"], hit["name"], 0.0) for hit in hits)
        cases.append(Case(question.text, question.entry_id, question.source, "", ranking))
    return cases
