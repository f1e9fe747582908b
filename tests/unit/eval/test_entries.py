import json
import math
from pathlib import Path

import pytest
from openpyxl import load_workbook

from eval.entries import measure
from eval.entries.figures import Case, Found, figures, mean
from eval.entries.paragraphs import shortened
from eval.entries.paragraphs import write as write_paragraphs
from eval.entries.report import into_docs, markdown, report_of, write
from eval.entries.sets import (
    Question,
    buckets,
    choose,
    indexed_texts,
    leaks,
    likeness,
    plain,
    read,
    read_questions,
)
from eval.entries.tokenizers import ablation
from eval.entries.workbook import GREEN, RED, YELLOW

DATA = Path(__file__).resolve().parents[3] / "eval" / "data"


def case(question: str, right: str, ranking: str, bucket: str = "often") -> Case:
    found = tuple(Found(one, f"이름 {one}", 0.5) for one in ranking)
    return Case(question, right, "human", bucket, found)


def test_figures_look_at_what_is_shown_and_ndcg_at_ten_places():
    second = {"acc@1": 0, "acc@3": 1, "acc@5": 1, "mrr@5": 0.5}
    assert figures(["a", "b", "c"], "b") == {**second, "ndcg@10": 1 / math.log2(3)}
    sixth = {"acc@1": 0, "acc@3": 0, "acc@5": 0, "mrr@5": 0}
    assert figures(list("abcdef"), "f") == {**sixth, "ndcg@10": 1 / math.log2(7)}
    assert figures(list("abcdefghijk"), "k") == {**sixth, "ndcg@10": 0}


def test_means_and_thirds():
    assert mean([{"x": 1.0}, {"x": 0.0}]) == {"x": 0.5}
    assert mean([]) == {}
    assert buckets({"a": 9, "b": 1, "c": 5}) == {"b": "seldom", "c": "sometimes", "a": "often"}


def test_popular_entries_come_first_and_human_questions_before_others():
    counts = {f"e{n}": n for n in range(30)}
    questions = [
        Question(f"e{n}", f"{source} {n}", source) for n in range(30) for source in ("m", "human")
    ]
    chosen = choose(questions, counts, 15, seed=1)
    assert chosen == choose(questions, counts, 15, seed=1) != choose(questions, counts, 15, seed=2)
    assert len(set(chosen)) == 15
    popular = [q for q in chosen if counts[q.entry_id] >= 20]
    assert {q.entry_id for q in popular if q.source == "human"} == {f"e{n}" for n in range(20, 30)}
    assert {q.entry_id for q in choose(questions, counts, 3)} == {"e29", "e28", "e27"}
    assert choose([Question("unknown", "?")], counts, 5) == []


@pytest.mark.parametrize(
    ("question", "leaked"),
    [
        ("카드를 잃어버렸어요", True),
        ("카드를  잃어버렸어요!", True),
        ("카드를 잃어버렸어요..ㅠ", True),
        ("지갑이 없어졌는데 어떡하지", False),
    ],
)
def test_a_question_that_is_indexed_or_nearly_so_is_a_leak(question: str, leaked: bool):
    indexed = ["카드를 잃어버렸어요", "환율 보기"]
    assert bool(leaks([Question("a", question)], indexed)) is leaked


def test_likeness_is_of_bigrams_of_what_is_said():
    assert likeness(plain("A, b!"), plain("ab")) == 1.0
    assert likeness("abc", "xyz") == 0.0
    assert likeness("a", "b") == 0.0


@pytest.mark.parametrize(("name", "entries", "asked"), [("app", 300, 300), ("city", 79, 158)])
def test_no_question_of_the_sets_is_told_by_what_is_indexed(name: str, entries: int, asked: int):
    rows = read(DATA / f"entries-{name}-ko.csv")
    questions = read_questions(DATA / f"entries-{name}-ko-questions.csv")
    assert (len({row["id"] for row in rows}), len(set(questions))) == (entries, asked)
    assert {q.entry_id for q in questions} == {row["id"] for row in rows}
    assert leaks(questions, indexed_texts(rows, [])) == []


def test_the_report_compares_with_the_defaults_and_says_what_is_not_configured(tmp_path: Path):
    base = [case("첫째", "a", "abc"), case("=1+1", "b", "acb", "seldom"), case("셋째", "z", "abc")]
    other = [case("첫째", "a", "bac"), case("=1+1", "b", "bac", "seldom"), case("셋째", "z", "")]
    cases = {"defaults": base, "rank fusion": other}
    report = report_of(3, cases, ["HyDE"], {"bigram": other, "kiwi": None})
    text = markdown(report)
    assert "| defaults | 0.333 | 0.667 | 0.667 | 0.444 | 0.500 |" in text
    assert "| seldom | 0.000 | 1.000 | 1.000 | 0.333 | 0.500 |" in text
    assert "| rank fusion | +0.000 [" in text
    assert "| the defaults against BM25 by | Acc@1 | Acc@5 | MRR@5 | nDCG@10 |" in text
    assert "| bigram | +0.000 [" in text
    assert "Not measured, no model configured: HyDE." in text
    assert "kiwi: not installed." in text
    write(report, cases, tmp_path)
    book = load_workbook(tmp_path / "entries.xlsx")
    assert book.sheetnames == ["summary", "cases"]
    sheet = book["cases"]
    fills = [
        [f"#{sheet.cell(row, column).fill.fgColor.rgb[2:]}" for column in (6, 7)]
        for row in (2, 3, 4)
    ]
    assert fills == [[GREEN, YELLOW], [YELLOW, GREEN], [RED, RED]]
    assert sheet.cell(3, 1).data_type == "s"
    assert book["summary"]["B2"].value == pytest.approx(0.3333)


def test_the_tokenizer_is_measured_by_bm25_alone():
    rows = [
        {"id": "a", "name": "전입신고", "text": "이사한 사람이 주소를 옮긴다"},
        {"id": "b", "name": "여권 발급", "text": "해외여행에 쓰는 여권"},
    ]
    found = ablation(rows, [Question("b", "해외여행가려면")])
    assert found["bigram"] is not None
    assert found["whitespace"] is not None
    (one,), (other,) = found["bigram"], found["whitespace"]
    assert (one.place, other.place) == (1, None)


def test_paragraphs_stand_for_services_and_questions_lose_their_rarest_words(tmp_path: Path):
    texts = ["등대지기는 밤마다 불을 켠다", "항구의 배는 아침에 떠난다", "등대는 항구를 비춘다"]
    asked = ["등대지기는 언제 불을 켜는가", "배는 언제 항구를 떠나는가"]
    source = tmp_path / "set.json"
    paragraphs = [
        {"context": text, "qas": [{"id": str(n), "question": q} for q in asked[n : n + 1]]}
        for n, text in enumerate(texts)
    ]
    source.write_text(json.dumps({"data": [{"title": "바다", "paragraphs": paragraphs}]}))
    whole = write_paragraphs(source, tmp_path, entries=9, questions=9, without=0)
    assert {row["text"] for row in read(whole[0])} == set(texts[:2])
    assert {q.text for q in read_questions(whole[1])} == set(asked)
    cut = write_paragraphs(source, tmp_path, entries=9, questions=9, without=0.25)
    assert {len(q.text.split()) for q in read_questions(cut[1])} == {3}
    (tmp_path / "question-ids.txt").write_text("1\n")
    (one,) = read_questions(
        write_paragraphs(source, tmp_path, entries=9, questions=9, without=0)[1]
    )
    assert one.text == asked[1]
    held = {"등대": 2, "대지": 1, "불을": 3}
    assert shortened("등대지기 불을 누가", held, 0.34) == "불을 누가"


def test_what_no_model_is_configured_for_is_not_measured():
    assert set(measure.with_models({}).values()) == {None}
    given = {"GROUNDWIRE_MODEL_HYDE_URL": "http://127.0.0.1:9/v1"}
    found = measure.with_models(given)
    assert found["HyDE"] is not None
    assert found["HyDE"].hyde is True
    assert found["no second ranking"] is None


def test_a_report_takes_the_place_of_the_last_one_in_the_docs(tmp_path: Path):
    docs = tmp_path / "docs.md"
    docs.write_text("# Title\n\ntext\n", encoding="utf-8")
    into_docs(docs, "one", "first")
    into_docs(docs, "two", "other")
    into_docs(docs, "one", "second")
    text = docs.read_text(encoding="utf-8")
    assert text.startswith("# Title\n\ntext\n\n<!-- set: one -->")
    assert "first" not in text
    assert text.index("second") < text.index("other")
