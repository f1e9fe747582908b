"""What agents are shown of an answer."""

from libs.client.mcp.shown import filled


def test_what_says_nothing_is_left_out() -> None:
    assert filled({"status": "ok", "status_reason": "", "also_in": [], "score": 0.0}) == {
        "status": "ok",
        "score": 0.0,
    }


def test_where_evidence_stands_is_told_even_when_it_is_nowhere() -> None:
    piece = {"section_path": [], "page_numbers": [], "assets": []}
    assert filled(piece) == {"section_path": [], "page_numbers": []}
    assert filled({"status": "abstained", "evidence": []})["evidence"] == []
