from services.chunker.cut import Sizes
from services.chunker.local import chunk_rows
from tests.support.rows import count_words, profile, rows, table


def build():
    given = rows(
        ("heading", "Budget Act", {"level": 1, "page": 1, "evidence": "outline"}),
        ("heading", "Scope", {"level": 2, "page": 1}),
        ("paragraph", "It rained. The budget covers every ministry of the state.", {"page": 1}),
        ("table", "", {**table([["Ministry", "Budget"], ["Health", "12"]]), "page": 2}),
        ("heading", "Scope", {"level": 2, "page": 3}),
        ("image", "", {"asset": "assets/images/a.png", "caption": "Figure 1", "page": 3}),
        ("heading", "Annex", {"level": 1, "page": 3}),
        ("heading", "Lists", {"level": 2, "page": 3}),
    )
    return chunk_rows(profile(), given, sizes=Sizes(), count_many=count_words, engine="native")


def test_navigation_counts_links_and_summarises() -> None:
    nav = build().nav
    assert (nav.title, nav.root.path, nav.root.level) == ("report", [], 0)
    act, annex = nav.root.children
    scope, again = act.children
    assert (act.evidence, act.page_numbers, act.chunk_count, act.total_chunk_count) == (
        "outline", [1], 0, 3,
    )  # fmt: skip
    assert scope.page_numbers == [1, 2]
    assert scope.summary == "The budget covers every ministry of the state."
    assert [r.type for r in scope.resources] == ["table"]
    assert again.resources[0].file_path == "assets/images/a.png"
    assert again.section_id == f"{scope.section_id}-2"
    assert act.summary == "Scope; Scope"
    assert annex.children[0].summary == "Lists"
    assert nav.root.total_chunk_count == 4


def test_manifest_states_source_counts_and_hierarchy() -> None:
    built = build()
    manifest = built.manifest
    assert (manifest.document_id, manifest.revision, manifest.engine) == ("local", 1, "native")
    assert manifest.statistics.model_dump() == {
        "rows": 8,
        "chunks": 4,
        "text_chunks": 2,
        "image_chunks": 1,
        "table_chunks": 1,
        "sections": 5,
        "tokens": sum(c.metadata.tokens for c in built.chunks.chunks),
        "characters": sum(len(c.content) for c in built.chunks.chunks),
    }
    assert manifest.options == {"chunk_target_tokens": "300", "chunk_max_tokens": "512"}
    assert manifest.keywords[:2] == ["budget", "scope"]
    assert built.hierarchy == manifest.HIERARCHY
    assert [(n.title, n.level) for n in built.hierarchy.children] == [
        ("Budget Act", 1),
        ("Annex", 1),
    ]
    assert [n.title for n in built.hierarchy.children[0].children] == ["Scope", "Scope"]
