"""The term table: short forms of one thing, and Korean terms with their English ones.

Small and general on purpose. A query is translated only where the table holds every word of
it that tells; half a translation would be a different question.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from libs.contracts.query.analysis import Language
from services.planner.analysis.korean import HANGUL

DEFAULT = Path(__file__).with_name("terms.json")
_LONGEST = 4


class Terms(BaseModel):
    """`synonyms` are groups of equals; `translations` go from Korean to English."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    synonyms: list[list[str]]
    translations: dict[str, str]

    @cached_property
    def _group_of(self) -> dict[str, list[str]]:
        return {word.casefold(): group for group in self.synonyms for word in group}

    @cached_property
    def _english(self) -> dict[str, str]:
        return {ko: en.casefold() for ko, en in self.translations.items()}

    @cached_property
    def _korean(self) -> dict[str, str]:
        """The first Korean term listed stands for an English one; plurals in -s are known."""
        found: dict[str, str] = {}
        for korean, english in self.translations.items():
            found.setdefault(english.casefold(), korean)
        return found | {f"{en}s": ko for en, ko in found.items() if f"{en}s" not in found}

    def equals(self, word: str) -> list[str]:
        """Other forms of the word, in the table's order."""
        folded = word.casefold()
        return [w for w in self._group_of.get(folded, []) if w.casefold() != folded]

    def translated(self, words: Sequence[str], lang: Language) -> str | None:
        """The words in Korean's or English's counterpart; None unless all of them are known
        and one is in a language at all. Numbers and codes stay as they are."""
        table = self._english if lang == "ko" else self._korean
        result: list[str] = []
        changed = False
        start = 0
        while start < len(words):
            for size in range(min(_LONGEST, len(words) - start), 0, -1):
                piece = words[start : start + size]
                known = table.get(" ".join(piece).casefold())
                if known is None and lang == "ko" and size > 1:
                    known = table.get("".join(piece))
                if known is None and size == 1 and _stays(piece[0], lang):
                    result.append(piece[0])
                elif known is not None:
                    result.append(known)
                    changed = True
                else:
                    continue
                start += size
                break
            else:
                return None
        return " ".join(dict.fromkeys(result)) if changed else None

    def counterpart(self, word: str, lang: Language) -> str | None:
        """One term in the other language."""
        table = self._english if lang == "ko" else self._korean
        return table.get(word.casefold())


def _stays(word: str, lang: Language) -> bool:
    if word.isdigit():
        return True
    if lang == "ko":
        return not HANGUL.search(word)
    return any(c.isdigit() for c in word)


def load_terms(path: Path = DEFAULT) -> Terms:
    """The term table of the file."""
    return Terms.model_validate_json(path.read_bytes())
