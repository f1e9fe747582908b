"""Which documents names stand for, by file names, tags and years."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.query.documents import DocumentsQuery
from libs.runtime.catalog.documents import ActiveRevision
from libs.runtime.index.port import Hit, LexicalQuery, Scope
from services.retriever import naming
from services.retriever.naming import Resolver, named
from services.retriever.scope import Corpus

FILES: list[tuple[str, dict[str, Any]]] = [
    ("pump-hp350.md", {}),
    ("pump-hp200.md", {}),
    ("하늘프로젝트_보고서_2023.pdf", {}),
    ("하늘프로젝트_보고서_2024.pdf", {}),
    ("notes.txt", {"tags": ["Korea Gas Corporation"], "year": 2022}),
    *[(f"minutes {n}.md", {}) for n in range(1, 6)],
]
REPORTS = [name for name, _ in FILES if "보고서" in name]
REVISIONS = [
    ActiveRevision(n, name, 1, name, "default", "md", DocumentMetadata(**known), 1, None)
    for n, (name, known) in enumerate(FILES, 1)
]


@pytest.mark.parametrize(
    ("names", "year", "found", "ambiguous"),
    [
        (["HP-350"], None, ["pump-hp350.md"], False),
        (["HP-350", "HP-200"], None, ["pump-hp350.md", "pump-hp200.md"], False),
        (["HP-3"], None, [], False),
        (["하늘 프로젝트"], None, REPORTS, True),
        (["하늘 프로젝트"], 2024, ["하늘프로젝트_보고서_2024.pdf"], False),
        (["하늘 프로젝트"], 1999, REPORTS, True),
        (["korea gas corporation"], 2022, ["notes.txt"], False),
        (["Minutes"], None, ["minutes 1.md", "minutes 2.md", "minutes 3.md", "minutes 4.md",
                             "minutes 5.md"], True),
        (["md"], None, [], False),
        ([], None, [], False),
    ],
)  # fmt: skip
def test_names_are_found_in_file_names_and_tags(
    names: list[str], year: int | None, found: list[str], ambiguous: bool
) -> None:
    result = named(REVISIONS, names, year, len(REVISIONS))
    assert sorted(r.file_name for r in result.revisions) == sorted(found)
    assert result.ambiguous is ambiguous


def test_a_name_of_most_documents_tells_nothing() -> None:
    few = REVISIONS[5:]
    result = named(few, ["minutes"], None, len(few))
    assert (result.revisions, result.ambiguous, result.candidates) == ([], False, 5)


@pytest.mark.parametrize("few", [500, 2])
async def test_of_many_documents_those_that_the_path_channel_finds_are_read(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[LexicalQuery] = []

    class Retriever:
        async def corpus(self, namespace: str) -> Corpus:
            return Corpus(7, REVISIONS, None)

        @property
        def index(self) -> Any:
            async def search(
                channel: str, query: LexicalQuery, scope: Scope, limit: int
            ) -> list[Hit]:
                searched.append(query)
                return [Hit(2, 0, "t", 2.0), Hit(1, 4, "t", 1.0), Hit(1, 5, "t", 1.0)]

            return SimpleNamespace(search=search)

    monkeypatch.setattr(naming, "FEW", few)
    query = DocumentsQuery(namespace="acme", names=["HP-350"])
    answer = await Resolver(cast(Any, Retriever())).documents(query)
    assert (answer.document_ids, answer.candidates) == (["pump-hp350.md"], 1)
    assert bool(searched) is (few < len(REVISIONS))
