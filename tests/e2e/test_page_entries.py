"""The page's view of entries in a real browser: what is there, what is found, in both languages."""

import json
import re

import pytest

from tests.e2e.test_page import CHROMIUM, opened
from tests.support.stack import Stack

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs a browser: apt-get install chromium"
)
MENU = """id,name,path,category,keywords,search_count
L1,등대 예약,관광 > 등대 예약,관광,"등대 구경, 등대 방문",900
L2,항구 날씨,날씨 > 항구,날씨,"파도, 바람",500
L3,<b>배표</b> 사기,교통 > 배표,교통,"여객선, 승선권",100
"""


@pytest.fixture(scope="module")
def harbour(stack: Stack) -> Stack:
    with stack.client() as client:
        answer = client.post(
            f"{stack.base}/collections/harbour/entries",
            files={"file": ("menu.csv", MENU.encode(), "text/csv")},
            data={"options": json.dumps({"wait_for_dense": True})},
        )
        assert answer.status_code == 202, answer.text
    assert stack.wait(answer.json()["job_id"])["state"] == "published"
    return stack


def test_a_collection_says_what_it_holds_and_offers_queries(harbour: Stack) -> None:
    dom = opened(harbour, "/entries/harbour", 'class="chip"', "ko")
    assert "전체 (3)" in dom
    assert "검토용 엑셀 내려받기" in dom
    assert re.search(r'<option value="관광"[^>]*>관광 \(1\)</option>', dom)
    assert re.findall(r'class="chip">([^<]+)<', dom) == [
        "등대 예약",
        "항구 날씨",
        "&lt;b&gt;배표&lt;/b&gt; 사기",
    ]
    assert "<b>배표" not in dom


def test_what_is_found_has_a_percentage_a_path_and_an_id(harbour: Stack) -> None:
    view = "/entries/harbour/%EB%93%B1%EB%8C%80%20%EA%B5%AC%EA%B2%BD"
    dom = opened(harbour, view, "<meter")
    row = re.search(r"<tr><td[^>]*>1</td>.*?</tr>", dom)
    assert row is not None
    assert re.search(r"<strong>\d+%</strong>", row[0])
    assert "등대 예약" in row[0]
    assert "관광 &gt; 등대 예약" in row[0]
    assert "<code>L1</code>" in row[0]
    assert "Similarity" in dom


def test_what_is_no_word_finds_nothing_and_the_page_says_so(harbour: Stack) -> None:
    dom = opened(
        harbour, "/entries/harbour/%E3%85%81%E3%84%B4%E3%85%87%E3%84%B9", "찾은 것이", "ko"
    )
    assert "찾은 것이 없습니다. 다른 말로 물어보세요." in dom
    assert "<meter" not in dom
