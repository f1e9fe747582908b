"""Which message may be worked on, when the server delivers one again."""

from datetime import UTC, datetime, timedelta

from libs.runtime.work import ENDED_KEPT, Work, WorkRegistry

STORED = datetime(2026, 1, 2, tzinfo=UTC)
MARK = ("profiler", 7, STORED)


def test_a_copy_is_held_while_its_work_moves_and_ended_after_its_acknowledgement() -> None:
    registry = WorkRegistry()
    assert registry.standing(MARK) == "free"
    with registry.working(Work("j1"), MARK):
        assert registry.standing(MARK) == "held"
        registry.end(MARK)
    assert registry.standing(MARK) == "ended"


def test_work_that_failed_may_begin_again() -> None:
    registry = WorkRegistry()
    with registry.working(Work("j1"), MARK):
        pass
    assert registry.standing(MARK) == "free"


def test_stalled_work_loses_its_message() -> None:
    registry = WorkRegistry()
    work = Work("j1")
    with registry.working(work, MARK):
        work.stalled = True
        assert registry.standing(MARK) == "free"
        assert work.lost


def test_the_same_number_in_a_stream_made_anew_is_another_message() -> None:
    registry = WorkRegistry()
    registry.end(MARK)
    assert registry.standing(("profiler", 7, STORED + timedelta(seconds=1))) == "free"
    assert registry.standing(("parser", 7, STORED)) == "free"


def test_what_is_remembered_of_the_past_is_bounded() -> None:
    registry = WorkRegistry()
    for number in range(ENDED_KEPT + 1):
        registry.end(("profiler", number, STORED))
    assert registry.standing(("profiler", 0, STORED)) == "free"
    assert registry.standing(("profiler", 1, STORED)) == "ended"
    assert registry.standing(("profiler", ENDED_KEPT, STORED)) == "ended"
