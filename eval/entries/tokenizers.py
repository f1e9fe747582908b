"""What the tokenizer is worth: BM25 alone over the same fields, by white space, by bigrams, and
by morphemes of kiwi where that is installed (`uv pip install kiwipiepy`)."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

from eval.entries.figures import DEEP, figures, mean
from eval.entries.sets import Question
from libs.runtime.index.tokenizer import TOKENIZERS
from services.planner.analysis.words import content_words

Tokenizer = Callable[[str], list[str]]
K1, B = 1.2, 0.75
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
) -> dict[str, dict[str, float] | None]:
    """Figures of BM25 by tokenizer; None for one that is not installed."""
    chosen: dict[str, Tokenizer | None] = {**TOKENIZERS, "kiwi": kiwi()}
    return {name: one and _measured(entries, questions, one) for name, one in chosen.items()}


def _measured(
    entries: Sequence[Mapping[str, str]], questions: Sequence[Question], tokenizer: Tokenizer
) -> dict[str, float]:
    import bm25s

    retriever = bm25s.BM25(method="lucene", k1=K1, b=B)  # type: ignore[no-untyped-call]
    retriever.index([fields(row, tokenizer) or [""] for row in entries], show_progress=False)
    asked = [tokenizer(" ".join(content_words(q.text)) or q.text) or [""] for q in questions]
    deep = min(DEEP, len(entries))
    found, scores = retriever.retrieve(asked, k=deep, show_progress=False)
    return mean(
        [
            figures(
                [entries[int(n)]["id"] for n, s in zip(row, worth, strict=True) if s > 0],
                question.entry_id,
            )
            for question, row, worth in zip(questions, found, scores, strict=True)
        ]
    )
