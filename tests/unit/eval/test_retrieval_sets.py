"""Sets, their configuration, and how a corpus is packed into documents."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.retrieval.beir import load_beir, load_squad
from eval.retrieval.cases import load_cases
from eval.retrieval.config import ConfigError, SetConfig, load_config
from eval.retrieval.model import Passage
from eval.retrieval.packing import Part, apart, pack
from eval.retrieval.pages import places_on_pages
from eval.retrieval.peers import PEERS
from eval.retrieval.run import places
from eval.retrieval.services import passage_places, section_place
from eval.retrieval.sets import cut, load, spread
from libs.contracts.api.search import Evidence
from libs.contracts.artefacts import Chunk
from libs.contracts.artefacts.profile import PageRange, Profile
from services.chunker.build import build_chunks
from services.chunker.cut import Sizes
from services.chunker.tree import build_tree, visible
from services.parser.formats import strategy
from services.parser.formats.base import AssetSink, ParseInput
from tests.support.pdfs import PdfPage, write_pdf

EVAL = Path(__file__).resolve().parents[3] / "eval"
WORDS = " ".join(f"word{n}." for n in range(900))


def evidence(document_id: str, pages: list[int], path: list[str], name: str = "f.md") -> Evidence:
    return Evidence(
        document_id=document_id, revision=1, chunk_id="c", type="text", content="x",
        source_file_name=name, section_path=path, page_numbers=pages, content_hash="h", score=1.0,
    )  # fmt: skip


def write_lines(path: Path, records: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    write_lines(
        tmp_path / "corpus.jsonl",
        [{"_id": n, "title": f"t{n}", "text": f"text {n}"} for n in ("1", "2", "3")],
    )
    write_lines(
        tmp_path / "queries.jsonl",
        [
            {"_id": "q1", "text": "who?", "metadata": {"type": "bridge"}},
            {"_id": "q2", "text": "누구?"},
            {"_id": "q3", "text": "nobody judged this"},
        ],
    )
    (tmp_path / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\t1\t1\nq1\t3\t2\nq1\t2\t0\nq2\t2\t1\n", "utf-8"
    )
    return tmp_path


def test_beir_sets(beir: Path) -> None:
    found = load_beir("s", beir, "mixed", "type")
    assert [(c.case_id, c.language, c.group) for c in found.cases] == [
        ("q1", "en", "bridge"),
        ("q2", "ko", "1 relevant"),
    ]
    assert found.cases[0].relevant == {"1": 1, "3": 2}
    assert found.passages[1] == Passage("2", "t2", "text 2")


def test_squad_paragraphs_are_passages_and_equal_ones_are_one(tmp_path: Path) -> None:
    def paragraph(text: str, *ids: str) -> dict[str, object]:
        return {"context": text, "qas": [{"id": i, "question": f"{i}?"} for i in ids]}

    told = [
        {"title": "A", "paragraphs": [paragraph("one", "q1", "q2"), paragraph("two", "q3")]},
        {"title": "B", "paragraphs": [paragraph("one", "q4")]},
    ]
    (tmp_path / "set.json").write_text(json.dumps({"data": told}), "utf-8")
    (tmp_path / "question-ids.txt").write_text("q1\nq3\nq4\n", "utf-8")
    found = load_squad("s", tmp_path, "ko")
    assert [p.text for p in found.passages] == ["one", "two"]
    assert [(c.case_id, dict(c.relevant)) for c in found.cases] == [
        ("q1", {"0": 1}),
        ("q3", {"1": 1}),
        ("q4", {"0": 1}),
    ]


def test_a_set_is_cut_to_cases_and_what_answers_them(beir: Path) -> None:
    settings = SetConfig(name="s", kind="beir", path=beir.name, passages=2, limit=1)
    found = load(settings, beir.parent, beir, None)
    assert found is not None
    assert [case.case_id for case in found.cases] == ["q1"]
    assert [p.passage_id for p in found.passages] == ["1", "3"]
    assert cut(found.passages, found.cases, None) == found.passages
    absent = SetConfig(name="s", kind="beir", path="nowhere")
    assert load(absent, beir.parent, beir, None) is None


def test_fewer_cases_are_spread_over_all() -> None:
    assert spread(list(range(10)), 3) == [0, 3, 6]  # type: ignore[arg-type]
    assert spread(list(range(4)), 4) == [0, 1, 2, 3]  # type: ignore[arg-type]


@pytest.mark.parametrize("path", sorted(EVAL.glob("*.yaml")), ids=lambda path: path.name)
def test_every_configuration_of_the_project_loads(path: Path) -> None:
    config = load_config(path)
    for settings in config.sets:
        if settings.kind == "cases":
            assert load(settings, EVAL, EVAL, None)


def test_own_cases_name_sections_that_exist() -> None:
    found = load_cases("own", EVAL / "data" / "cases.yaml")
    headings = {
        f"{file.name}#{line.lstrip('# ')}"
        for file in found.files
        for line in file.read_text("utf-8").splitlines()
        if line.startswith("#")
    }
    assert {place for case in found.cases for place in case.relevant} <= headings
    assert {case.language for case in found.cases} == {"en", "ko"}
    assert any(case.abstain for case in found.cases)
    assert any(case.sides for case in found.cases)
    assert any(case.conversation for case in found.cases)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: x\nsets: []", "sets"),
        ("name: x\nsets: [{name: s, kind: other, path: p}]", "kind"),
        ("name: x\nsets: [{name: s, kind: beir, path: p, bar: 1}]", "bar"),
        ("{", "no YAML"),
        ("- 1", "the whole"),
    ],
)
def test_a_wrong_configuration_is_refused_with_the_field(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=words):
        load_config(path)


def test_an_absent_configuration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"c\.yaml"):
        load_config(tmp_path / "c.yaml")


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("{id: a, query: q, group: g, language: en}", "give evidence"),
        ('{id: a, query: q, group: g, language: en, evidence: ["b.md#x"]}', "in no document"),
        ("{id: A, query: q, group: g, language: en, abstain: true}", "id"),
    ],
)
def test_wrong_own_cases_are_refused(tmp_path: Path, case: str, words: str) -> None:
    (tmp_path / "a.md").write_text("# x\n", "utf-8")
    (tmp_path / "cases.yaml").write_text(f"documents: [a.md]\ncases: [{case}]\n", "utf-8")
    with pytest.raises(ConfigError, match=words):
        load_cases("own", tmp_path / "cases.yaml")


@given(st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=40))
def test_packed_passages_are_all_there_and_no_neighbours_share_a_heading(
    titles: list[str],
) -> None:
    passages = [Passage(str(n), title, "text") for n, title in enumerate(titles)]
    parts = pack(passages, 7)
    kept = [p for part in parts for p in part.passages]
    assert sorted(kept, key=lambda p: int(p.passage_id)) == passages
    assert all(len(part.passages) <= 7 for part in parts)
    for part in parts:
        heads = [p.title or p.passage_id for p in part.passages]
        assert all(one != other for one, other in pairwise(heads))


def test_headings_come_apart_where_there_is_an_order() -> None:
    passages = [Passage(str(n), title, "") for n, title in enumerate("aaaabbc")]
    heads = [passage.title for passage in apart(passages)]
    assert sorted(heads) == sorted("aaaabbc")
    assert all(one != other for one, other in pairwise(heads))


def chunks_of(part: Part, folder: Path) -> list[Chunk]:
    """What the parser and the chunker make of a packed document."""
    source = folder / part.file_name
    source.write_bytes(part.fragments())
    profile = Profile(
        format="fragments", media_type="application/vnd.groundwire.fragments+jsonl",
        file_name=part.file_name, size=source.stat().st_size, sha256="0" * 64, encoding="utf-8",
    )  # fmt: skip
    given = ParseInput(source, profile, PageRange(first=0, last=0), AssetSink(folder), folder)
    rows = visible(strategy("fragments")(given).rows)
    chunks: list[Chunk] = []
    build_chunks(
        build_tree(rows, part.document_id),
        lambda texts: [len(text.split()) for text in texts],
        Sizes(),
        {},
        "en",
        chunks.append,
    )
    return chunks


def test_pieces_of_a_packed_corpus_are_known_again_by_their_page(tmp_path: Path) -> None:
    passages = [
        Passage("same-1", "Same", "first of two under one heading"),
        Passage("same-2", "Same", "second of two under one heading"),
        Passage("long", "Long", WORDS),
        Passage("untitled", "", "no title at all"),
        Passage("slash", "A/B", "a heading with a stroke"),
    ]
    (part,) = parts = pack(passages)
    chunks = chunks_of(part, tmp_path)
    locate = passage_places(parts)
    found: dict[str, str] = {}
    for chunk in chunks:
        (where,) = locate(evidence(part.document_id, chunk.metadata.page_numbers, list(chunk.path)))
        found[where] = f"{found.get(where, '')} {chunk.content}".strip()
    texts = {key: " ".join(text.split()) for key, text in found.items()}
    assert texts == {passage.passage_id: passage.text for passage in passages}
    assert len(chunks) > len(passages)


def test_evidence_of_another_document_is_nowhere() -> None:
    parts = pack([Passage("1", "a", "x")])
    assert passage_places(parts)(evidence("other", [1], [])) == ()
    assert passage_places(parts)(evidence(parts[0].document_id, [2], [])) == ()


def test_sections_are_places_of_own_documents() -> None:
    assert section_place(evidence("d", [], ["Manual", "Faults"], "a.md")) == ("a.md#Faults",)
    assert section_place(evidence("d", [], [], "a.md")) == ("a.md",)


def test_pages_of_pdfs_are_judged_and_ranked_by_the_peers(tmp_path: Path) -> None:
    texts = ("Anchors are rented by the day.", "Buoys cost nine crowns.")
    (tmp_path / "port.pdf").write_bytes(
        write_pdf(*(PdfPage().text(72, 72, text) for text in texts))
    )
    case = "{id: a, query: What do buoys cost, group: g, language: en, pages: {port.pdf: [2]}}"
    (tmp_path / "set.yaml").write_text(f"documents: [port.pdf]\ncases: [{case}]\n", "utf-8")
    found = load(SetConfig(name="p", kind="pages", path="set.yaml"), tmp_path, EVAL, None)
    assert found is not None and found.by_page
    assert [one.relevant for one in found.cases] == [{"port.pdf#2": 1}]
    assert [(p.passage_id, p.text.strip()) for p in found.passages] == [
        ("port.pdf#1", texts[0]),
        ("port.pdf#2", texts[1]),
    ]
    assert PEERS["bm25s"](found.passages, found.cases)[0][0] == "port.pdf#2"
    over_both = evidence("d", [1, 2], [], "port.pdf")
    assert places([over_both], places_on_pages) == ("port.pdf#1", "port.pdf#2")


def test_a_page_that_a_document_does_not_have_is_refused(tmp_path: Path) -> None:
    (tmp_path / "port.pdf").write_bytes(write_pdf(PdfPage().text(72, 72, "one page")))
    case = "{id: a, query: q, group: g, language: en, pages: {port.pdf: [2]}}"
    (tmp_path / "set.yaml").write_text(f"documents: [port.pdf]\ncases: [{case}]\n", "utf-8")
    with pytest.raises(ConfigError, match=r"port\.pdf#2"):
        load_cases("p", tmp_path / "set.yaml")


@pytest.mark.parametrize("name", ["bm25s", "tantivy"])
def test_peers_find_what_shares_words(name: str, beir: Path) -> None:
    passages = [
        Passage("pump", "Pumps", "grease the bearings of the pump"),
        Passage("leave", "휴가", "연차휴가는 15일을 준다"),
        Passage("other", "Weather", "rain in the north"),
    ]
    found = load_beir("s", beir, "mixed", None)
    cases = [
        type(found.cases[0])(case_id=q, query=q, relevant={}, language="en", group="")
        for q in ("greasing a bearing", "연차휴가 일수", "zzz")
    ]
    rankings = PEERS[name](passages, cases)  # type: ignore[index]
    assert [ranking[:1] for ranking in rankings] == [("pump",), ("leave",), ()]
