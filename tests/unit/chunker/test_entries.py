from typing import Any, cast

import pytest

from libs.contracts.artefacts.chunk import Chunks
from libs.contracts.artefacts.diagnostics import Diagnostics
from libs.contracts.artefacts.rows import Row
from libs.contracts.entries import Enrichment, Entry, RecordRules, Review
from libs.contracts.events import DocumentChunked
from libs.contracts.faults import Code, DocumentFault, WorldFault
from libs.runtime.artefacts import load_json, save_json
from libs.runtime.work import Work
from services.chunker.artefacts import Made, build_records
from services.chunker.cut import Sizes
from services.chunker.entries import DESCRIBED, LONG, SHORT, embedding_text, merged
from services.chunker.handlers import Deps, on_parsed
from services.chunker.records import review_of, wanted_of
from tests.support.fakes import Bus, Objects
from tests.support.rows import count_words, profile
from tests.unit.chunker.test_handlers import PREFIX, parsed

SEND = Entry(id="1", name="송금", category="이체", keywords=["보내기"], search_count=5)
RATE = Entry(id="2", name="환율 조회", category="외환")
RULES = RecordRules()


def test_an_upload_unites_keywords_and_keeps_what_it_does_not_state():
    sheet = Entry(id="1", name="", keywords=["돈 보내기", "보내기"])
    union = merged([SEND, RATE], [sheet], RULES)
    assert union.entries == [SEND.model_copy(update={"keywords": ["보내기", "돈 보내기"]}), RATE]


def test_a_keyword_sheet_makes_no_entry():
    union = merged([SEND], [Entry(id="9", name="", keywords=["x"])], RULES)
    assert (union.entries, union.unnamed) == ([SEND], 1)


def test_deleted_entries_go_and_all_questions_of_an_id():
    gone = Entry(id="1", name="", deleted=True)
    assert merged([SEND, RATE], [gone], RULES).entries == [RATE]
    asked = [Entry(id="1", name=q) for q in ("a", "b")] + [Entry(id="2", name="c")]
    rules = RecordRules(kind="questions")
    assert merged(asked, [gone], rules).entries == asked[2:]
    one = Entry(id="1", name="b", deleted=True)
    assert merged(asked, [one], rules).entries == [asked[0], asked[2]]


def test_replace_forgets_what_was_published():
    assert merged([SEND], [RATE], RecordRules(mode="replace")).entries == [RATE]


def test_long_free_fields_are_part_of_the_description_and_short_ones_come_last():
    told = {
        "용도": "받는 사람의 계좌로 돈을 보냅니다. " * 20,
        "담당": "수신팀",
        "가능 시간": "밤 열두 시를 전후한 때에는 보낼 수 없습니다. " * 2,
    }
    text = embedding_text(SEND.model_copy(update={"fields": told}), [])
    assert text.startswith("송금. 용도: 받는 사람의 계좌로 돈을 보냅니다.")
    assert LONG < len(text) <= DESCRIBED
    assert text.endswith("관련어: 보내기. 담당: 수신팀")
    assert text.index("용도: ") < text.index("가능 시간: 밤") < text.index("관련어")
    few = SEND.model_copy(update={"fields": {str(n): "짧은 값" for n in range(200)}})
    assert len(embedding_text(few, [])) <= LONG


def test_sentences_of_a_rule_made_text_end_once():
    told = SEND.model_copy(update={"text": "돈을 보냅니다."})
    assert "돈을 보냅니다. " in embedding_text(told, ["예약 송금"])
    assert ".." not in embedding_text(told, ["예약 송금"])


def test_the_rule_made_text_names_siblings_only_while_it_is_short():
    siblings = [f"이체 항목 {n}" for n in range(40)]
    text = embedding_text(SEND.model_copy(update={"path": "이체 > 송금"}), siblings)
    assert text.startswith(
        "송금. 위치: 이체 > 송금. 관련어: 보내기. 같은 분류의 다른 항목: 이체 항목 0,"
    )
    assert SHORT - 20 < len(text) <= SHORT
    long = embedding_text(SEND.model_copy(update={"text": "긴 설명 " * 200}), siblings)
    assert "같은 분류" not in long
    assert LONG < len(long) <= DESCRIBED


def test_a_chunk_is_an_entry_and_a_section_a_category():
    given = [RATE, SEND, Entry(id="3", name="도움말")]
    made = Made("entries-app", 1, "records", {}, Sizes())
    built = build_records(
        profile("m.csv").model_copy(update={"records": RULES}), given, made, count_words
    )
    chunks = built.chunks.chunks
    assert [(c.order, c.path, c.metadata.entry) for c in chunks] == [
        (0, [], given[2]),
        (1, ["외환"], RATE),
        (2, ["이체"], SEND),
    ]
    assert [s.title for s in built.nav.root.children] == ["외환", "이체"]
    assert built.nav.root.total_chunk_count == built.manifest.statistics.chunks == 3


def test_nothing_left_is_a_fault():
    made = Made("entries-app", 1, "records", {}, Sizes())
    with pytest.raises(DocumentFault) as caught:
        build_records(profile("m.csv"), [], made, count_words)
    assert caught.value.code == Code.NO_CONTENT


class Published:
    """A document store that knows revision 1, which `state` says of."""

    def __init__(self, state: str, chunks: Any) -> None:
        self.one = cast(Any, type("R", (), {}))()
        self.one.revision, self.one.state = 1, state
        self.one.artefacts = {"chunks.json": chunks}

    async def revisions(self, namespace: str, document_id: str) -> list[Any]:
        return [self.one]

    async def revision(self, namespace: str, document_id: str) -> Any:
        return self.one if self.one.state == "published" else None


async def upload(state: str) -> tuple[Objects, DocumentChunked]:
    objects, bus = Objects(), Bus()
    made = Made("entries-app", 1, "records", {}, Sizes())
    before = build_records(profile("m.csv"), [SEND], made, count_words)
    stored = await save_json(cast(Any, objects), PREFIX + "old.json", before.chunks)
    given = [RATE, Entry(id="8", name="", keywords=["x"])]
    rows = [Row(order=n, kind="paragraph", text="x", entry=e) for n, e in enumerate(given)]
    event = await parsed(objects, rows)
    rules = profile("m.csv").model_copy(update={"records": RULES})
    event = event.model_copy(
        update={
            "revision": 2,
            "profile": await save_json(cast(Any, objects), PREFIX + "profile.json", rules),
        }
    )
    store = cast(Any, Published(state, stored))
    deps = Deps(cast(Any, bus), cast(Any, objects), count_words, Sizes(), store)
    await on_parsed(deps, event, Work("job-1"))
    (said,) = bus.announced.values()
    return objects, cast(DocumentChunked, said)


async def test_a_merge_builds_on_the_active_revision_and_says_what_it_left_out():
    objects, said = await upload("published")
    chunks = await load_json(cast(Any, objects), said.artefacts["chunks.json"], Chunks)
    held = [cast(Entry, chunk.metadata.entry).id for chunk in chunks.chunks]
    assert held == ["2", "1"]
    notes = await load_json(cast(Any, objects), said.artefacts["diagnostics.json"], Diagnostics)
    assert [(f.code, f.count) for f in notes.findings] == [("entry_unknown", 1)]


async def test_a_merge_waits_for_the_upload_before_it():
    with pytest.raises(WorldFault) as caught:
        await upload("staged")
    assert caught.value.code == Code.OVERLOADED


def test_a_review_says_what_it_changes_and_asks_anew_only_where_something_is_wished():
    made = Enrichment(sample_queries=["카드 뭐지", "카드 잃어버림"])
    lost = Entry(id="1", name="분실", enriched=made, review=Review(feedback="짧게"))
    given = [
        Entry(
            id="1", name="", keywords=["도난"],
            review=Review(feedback="짧게", struck=["카드 뭐지", "없던 것"],
                          added=["카드 잃어버림", "지갑 없어짐"]),
        ),
        Entry(id="2", name="", review=Review(feedback="더 쉽게")),
        Entry(id="9", name="", review=Review(feedback="?")),
    ]  # fmt: skip
    rules = RecordRules(review=True, enrich=["describe"])
    report = review_of([lost, RATE], given)
    assert report.model_dump(exclude={"schema_version"}) == {
        "added": [{"id": "1", "question": "지갑 없어짐"}],
        "removed": [{"id": "1", "question": "카드 뭐지"}],
        "keywords": ["1"],
        "feedback": ["2"],
        "unknown": ["9"],
    }
    union = merged([lost, RATE], given, rules)
    rows = [Row(order=n, kind="paragraph", text="x", entry=e) for n, e in enumerate(given)]
    assert wanted_of(rules, union, report, rows) == ["2"]
    assert wanted_of(RecordRules(enrich=["describe"]), union, report, rows) == ["1", "2"]
    assert wanted_of(RecordRules(), union, report, rows) == []
    assert union.entries[0].questions() == ["카드 잃어버림", "지갑 없어짐"]
