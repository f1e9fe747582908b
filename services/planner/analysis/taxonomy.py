"""The taxonomy: domains and document types with the words that hint at them.

A file of the same form as `services/planner/taxonomy.json` replaces it whole. A Korean cue
is found at the beginning of a word, since particles and nouns follow without a space; any
other as whole words.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from libs.contracts.faults import CallerFault, Code
from libs.contracts.query.analysis import MAX_DOCUMENT_TYPES, MAX_DOMAINS, SoftFilters
from services.planner.analysis.korean import HANGUL

DEFAULT = Path(__file__).parents[1] / "taxonomy.json"
MAX_BYTES = 1 << 20

Cue = Annotated[str, Field(min_length=1, max_length=64)]
Name = Annotated[str, Field(pattern=r"^\w+(?:/\w+)?$", max_length=128)]
Cues = Annotated[list[Cue], Field(max_length=1000)]


class Taxonomy(BaseModel):
    """Paths of one or two levels, each with its cues in any language."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    domains: dict[Name, Cues] = Field(max_length=500)
    document_types: dict[Name, Cues] = Field(max_length=500)

    @cached_property
    def _domains(self) -> "_Finder":
        return _Finder(self.domains)

    @cached_property
    def _types(self) -> "_Finder":
        return _Finder(self.document_types)

    def hints(self, text: str) -> SoftFilters:
        """What the text hints at, most cues first, a more specific path before its parent."""
        return SoftFilters(
            domain=self._domains.ranked(text)[:MAX_DOMAINS],
            document_type=self._types.ranked(text)[:MAX_DOCUMENT_TYPES],
        )


class _Finder:
    def __init__(self, cues: Mapping[str, list[str]]) -> None:
        self._names: dict[str, list[str]] = {}
        for name, words in cues.items():
            for word in words:
                self._names.setdefault(word.casefold(), []).append(name)
        korean = [w for w in self._names if HANGUL.search(w)]
        other = [w for w in self._names if not HANGUL.search(w)]
        parts = [rf"(?<![가-힣])(?:{_any(korean)})"] if korean else []
        parts += [rf"(?<!\w)(?:{_any(other)})(?![A-Za-z0-9_])"] if other else []
        self._pattern = re.compile("|".join(parts)) if parts else None

    def ranked(self, text: str) -> list[str]:
        if self._pattern is None:
            return []
        counts: dict[str, int] = {}
        for match in self._pattern.finditer(text.casefold()):
            for name in self._names[match[0]]:
                counts[name] = counts.get(name, 0) + 1
        return sorted(counts, key=lambda n: (-counts[n], -n.count("/"), n))


def _any(words: list[str]) -> str:
    return "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))


def load_taxonomy(path: Path = DEFAULT) -> Taxonomy:
    """The taxonomy in the file; one that is missing, too large or of another form raises a
    `CallerFault` that names what is wrong in it."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CallerFault(Code.INVALID, f"taxonomy {path.name}: larger than 1 MiB", 422)
        return Taxonomy.model_validate_json(path.read_bytes())
    except OSError as error:
        raise CallerFault(Code.INVALID, f"taxonomy {path.name}: {error.strerror}", 422) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise CallerFault(
            Code.INVALID, f"taxonomy {path.name}: {place}: {first['msg']}", 422
        ) from None
