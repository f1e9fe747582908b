"""Follow-ups: resolved from what was said, or asked back; never guessed."""

from string import ascii_lowercase as LETTERS

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.contracts.api.search import SearchRequest, Turn
from services.planner.conversation.mentions import MAX_FOUND, MAX_MENTIONS, Mention, mentions
from services.planner.conversation.resolve import resolve

THRESHOLD = 0.6


def asked(query: str, *turns: str, documents: tuple[str, ...] = ()) -> SearchRequest:
    """A question after turns of user and assistant; the last turn brings the documents."""
    roles = ("user", "assistant")
    conversation = [
        Turn(
            role=roles[i % 2],
            text=text,
            document_ids=list(documents) if i == len(turns) - 1 else [],
        )
        for i, text in enumerate(turns)
    ]
    return SearchRequest(query=query, conversation=conversation)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("한국가스공사의 차세대 통합정보시스템 구축 사업의 목적은?",
         [("차세대 통합정보시스템 구축 사업", "project"), ("한국가스공사", "entity")]),
        ("국민연금공단 이러닝시스템 운영 용역에 대해 알려줘",
         [("국민연금공단 이러닝시스템 운영 용역", "project")]),
        ("도로 정비 사업과 하수관 정비 사업의 예산은?",
         [("도로 정비 사업", "project"), ("하수관 정비 사업", "project")]),
        ("산업안전보건법 제12조는?", [("산업안전보건법", "entity")]),
        ("Which film by Christopher Nolan won the Academy Award?",
         [("Christopher Nolan", "entity"), ("Academy Award", "entity")]),
        ("What is the Riverside Bridge project about?", [("Riverside Bridge project", "project")]),
        ("And its CEO?", []),
        ("그 사업의 기간은?", []),
        ("고용노동부 지침은?", [("고용노동부", "entity")]),
    ],
)  # fmt: skip
def test_names_keep_their_form(text: str, named: list[tuple[str, str]]) -> None:
    assert sorted((m.text, m.kind) for m in mentions(text)) == sorted(named)


@pytest.mark.parametrize(
    ("request_", "resolved"),
    [
        (asked("그 사업의 기간은 얼마야?", "국민연금공단 이러닝시스템 운영 용역을 찾아줘", "네"),
         "국민연금공단 이러닝시스템 운영 용역 그 사업의 기간은 얼마야?"),
        (asked("예산은?", "한국가스공사의 주소는?", "대구"), "한국가스공사 예산은?"),
        (asked("What about 2023?", "What was Acme Corporation's revenue in 2022?", "5 bn"),
         "Acme Corporation revenue What about 2023?"),
        (asked("그럼 2022년은?", "삼성전자 2021년 매출은?", "1조"), "삼성전자 매출 그럼 2022년은?"),
        (asked("what about its price?", "Tell me about the Galaxy S24", "A phone."),
         "Galaxy S24 what about its price?"),
        (asked("작년에는?", "한국가스공사 예산을 알려줘", "1조"), "한국가스공사 예산 작년에는?"),
        (asked("why?", "What was Acme Corporation's revenue in 2022?", "5 bn"),
         "Acme Corporation 2022 revenue why?"),
        (asked("그래서 그 사업은?", "도로 정비 사업의 예산은?", "3억"),
         "도로 정비 사업 그래서 그 사업은?"),
        (asked("Who founded it?", "Where is Samsung Electronics based?", "Suwon"),
         "Samsung Electronics Who founded it?"),
        (asked("두 기관의 예산을 비교해줘", "한국가스공사와 국민연금공단이 낸 공고는?", "둘"),
         "한국가스공사 국민연금공단 두 기관의 예산을 비교해줘"),
        (asked("그 기관 주소는?", "한국가스공사의 예산은?", "1조", "국민연금공단의 예산은?", "2조"),
         "국민연금공단 그 기관 주소는?"),
    ],
)  # fmt: skip
def test_a_follow_up_is_put_behind_what_it_is_about(request_: SearchRequest, resolved: str) -> None:
    found = resolve(request_, THRESHOLD)
    assert found.query == resolved
    assert found.rewrite.rewrite_type == "conversation_state_prefix"
    assert found.rewrite.context_source == "conversation_state"
    assert found.rewrite.context_status == "resolved"
    assert found.rewrite.context_entities + found.rewrite.context_projects
    assert THRESHOLD <= found.rewrite.context_resolution_confidence <= 1
    assert found.clarification is None


@pytest.mark.parametrize(
    ("request_", "resolved", "named"),
    [
        (asked("국민연금공단은?", "한국가스공사의 2021년 예산은?", "1조"),
         "2021년 예산 국민연금공단은?", ["국민연금공단"]),
        (asked("국민연금공단은?", "한국가스공사의 2021년 예산은?", "1조", "2022년은?", "2조"),
         "2022년 예산 국민연금공단은?", ["국민연금공단"]),
        (asked("What about Microsoft?", "What was Apple Inc's revenue in 2022?", "5 bn"),
         "2022 revenue What about Microsoft?", ["Microsoft"]),
        (asked("And Germany?", "Show me the population of France", "67 million"),
         "population And Germany?", ["Germany"]),
        (asked("그럼 2022년은?", "2021년 휴가 규정은?", "15일"), "휴가 규정 그럼 2022년은?", []),
        (asked("and in 2021?", "what was the revenue in 2022?", "5"), "revenue and in 2021?", []),
    ],
)  # fmt: skip
def test_what_was_asked_is_asked_of_another_thing_or_time(
    request_: SearchRequest, resolved: str, named: list[str]
) -> None:
    found = resolve(request_, THRESHOLD)
    assert (found.query, found.clarification) == (resolved, None)
    assert found.rewrite.rewrite_type == "conversation_state_prefix"
    assert found.rewrite.context_entities == named
    assert THRESHOLD <= found.rewrite.context_resolution_confidence < 1
    assert "Apple" not in found.query


def test_documents_of_another_time_or_thing_do_not_bound_the_search() -> None:
    for query in ("그럼 2022년은?", "국민연금공단은?"):
        found = resolve(
            asked(query, "한국가스공사 2021년 예산은?", "1조", documents=("d1",)), THRESHOLD
        )
        assert (found.document_ids, found.rewrite.active_doc_ids) == ([], ["d1"])
    same = asked("왜?", "한국가스공사 2021년 예산은?", "1조", documents=("d1",))
    assert resolve(same, THRESHOLD).document_ids == ["d1"]


def test_a_name_in_part_is_completed() -> None:
    found = resolve(
        asked("하수관 사업의 기간은?", "도로 정비 사업과 하수관 정비 사업의 예산은?", "네"),
        THRESHOLD,
    )
    assert found.query == "하수관 정비 사업의 기간은?"
    assert found.rewrite.rewrite_type == "explicit_context"
    assert found.rewrite.context_projects == ["하수관 정비 사업"]


@pytest.mark.parametrize(
    ("request_", "asks"),
    [
        (asked("그 기관의 주소는?", "한국가스공사와 국민연금공단이 낸 공고는?", "둘"),
         "어느 것에 대한 질문인가요: 한국가스공사, 국민연금공단?"),
        (asked("And its CEO?", "Compare Apple Inc. with Microsoft", "…"),
         "Which one do you mean: Apple Inc, Microsoft?"),
        (asked("그거 언제야?", "안녕", "네"), "무엇에 대한 질문인가요?"),
        (asked("What did he say?", "hello", "hi"), "What is the question about?"),
        (asked("그럼 2022년은?", "안녕하세요 반갑습니다", "네"), "무엇에 대한 질문인가요?"),
        (asked("what about 2021?", "thank you", "welcome"), "What is the question about?"),
    ],
)  # fmt: skip
def test_what_is_unclear_is_asked_back(request_: SearchRequest, asks: str) -> None:
    found = resolve(request_, THRESHOLD)
    assert found.clarification == asks
    assert found.query == request_.query
    assert found.rewrite.rewrite_type == "clarification_required"
    assert found.rewrite.context_status == "needs_clarification"
    assert found.rewrite.context_resolution_confidence < THRESHOLD


@pytest.mark.parametrize(
    "request_",
    [
        asked("그거 언제야?"),
        asked("What is the capital of France?", "Who is the president of Germany?", "…"),
        asked("산업안전보건법 제12조는?", "근로기준법 제5조는?", "…"),
        asked("Is it true that the Nile is the longest river?", "Tell me about Brazil", "…"),
        asked("국민연금공단", "한국가스공사의 2021년 예산은?", "1조"),
        asked("What is Docker?", "What is the retirement age in France?", "62"),
        asked("소화기 점검 주기와 점검 방법", "한국가스공사의 예산은?", "…"),
    ],
)
def test_a_question_that_stands_alone_stays_as_it_is(request_: SearchRequest) -> None:
    found = resolve(request_, THRESHOLD)
    assert (found.query, found.follow_up) == (request_.query, False)
    assert found.rewrite.context_status == "not_needed"
    assert not found.document_ids


def test_the_documents_of_the_last_answer_are_the_context() -> None:
    found = resolve(asked("이 문서의 결론은?", "요약해줘", "네", documents=("d1",)), THRESHOLD)
    assert found.document_ids == ["d1"]
    assert found.rewrite.active_doc_ids == ["d1"]
    one_of_many = asked("이 문서의 결론은?", "요약해줘", "네", documents=("d1", "d2"))
    assert resolve(one_of_many, THRESHOLD).clarification is not None


def test_the_threshold_decides() -> None:
    request = asked(
        "하도급 조건은?", "학사정보시스템 고도화 사업의 서류는?", "…", "평가 기준은?", "…"
    )
    assert resolve(request, 0.5).rewrite.context_status == "resolved"
    assert resolve(request, 0.95).rewrite.context_status == "needs_clarification"


@given(
    st.text(min_size=1, max_size=200).filter(str.strip), st.lists(st.text(max_size=80), max_size=8)
)
def test_whatever_is_said_the_result_is_whole(query: str, turns: list[str]) -> None:
    try:
        request = asked(query, *turns)
    except ValueError:
        return
    found = resolve(request, THRESHOLD)
    assert found.rewrite.original_query == query
    assert found.query
    assert len(found.query) <= 4096
    assert (found.clarification is not None) == (
        found.rewrite.context_status == "needs_clarification"
    )


def test_many_names_are_not_all_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    key = Mention.key.fget
    assert key is not None

    def counted(mention: Mention) -> str:
        nonlocal calls
        calls += 1
        return key(mention)

    monkeypatch.setattr(Mention, "key", property(counted))
    text = ", ".join(f"Xa{first}{second}" for first in LETTERS for second in LETTERS)
    assert len(mentions(text)) == MAX_MENTIONS
    assert calls <= 4 * MAX_FOUND * MAX_FOUND


def test_a_run_of_letters_without_end_is_clipped_to_a_word() -> None:
    assert [m.text for m in mentions("가" * 60 + "사업")] == ["가" * 40 + "사업"]
