from pathlib import Path

from eval.retrieval.entries import buckets, figures, markdown, mean, read

DATA = Path(__file__).resolve().parents[3] / "eval" / "data"


def test_figures_look_at_five_places():
    assert figures(["a", "b", "c"], "b") == {"acc@1": 0, "acc@3": 1, "acc@5": 1, "mrr@5": 0.5}
    assert figures(list("abcdef"), "f") == {"acc@1": 0, "acc@3": 0, "acc@5": 0, "mrr@5": 0}


def test_means_and_thirds():
    assert mean([{"x": 1.0}, {"x": 0.0}]) == {"x": 0.5}
    assert mean([]) == {}
    assert buckets({"a": 9, "b": 1, "c": 5}) == {"b": "seldom", "c": "sometimes", "a": "often"}


def test_the_report_is_a_table():
    found = {"acc@1": 0.5, "acc@3": 0.6, "acc@5": 0.7, "mrr@5": 0.55}
    text = markdown({"entries": 3, "questions": 2, "settings": {"defaults": found}})
    assert "| defaults | 0.500 | 0.600 | 0.700 | 0.550 |" in text


def test_every_question_of_the_demonstration_set_has_its_entry_and_none_is_told_twice():
    entries = {row["id"]: row for row in read(DATA / "entries-app-ko.csv")}
    questions = read(DATA / "entries-app-ko-questions.csv")
    assert (len(entries), len(questions)) == (300, 300)
    assert {row["id"] for row in questions} == set(entries)
    assert len({row["question"] for row in questions}) == 300
    leaks = [
        row["question"]
        for row in questions
        if row["question"].replace(" ", "") in entries[row["id"]]["keywords"].replace(" ", "")
    ]
    assert not leaks
