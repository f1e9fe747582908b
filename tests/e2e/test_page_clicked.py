"""The web page as a person uses it: clicking, typing, choosing files, on a desk and on a phone."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.e2e.test_entries_enriched import SHOWN
from tests.support.browser import CHROMIUM, Tab, tab
from tests.support.documents import pdf
from tests.support.stack import KEY, Stack

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs a browser: apt-get install chromium"
)
PHONE = (390, 844)
FERRY = [
    (20, "Ferry timetable"),
    (11, "The ferry to the skerries leaves at a quarter past nine."),
]
BUOYS = b"# Buoys\n\nA cardinal buoy of the skerries says on which side to pass.\n"
GOODS = """물건코드;물건이름;이야기
G1;접이식 의자;캠핑 갈 때 펴고 앉는 의자입니다
G2;보온병;따뜻한 물을 오래 담아 두는 병입니다
;이름만 있는 물건;번호가 없습니다
"""


def opened(page: Tab, stack: Stack, view: str, language: str = "ko") -> None:
    page.go(f"{stack.url}/#key={KEY}&view={quote(view, safe='/')}&lang={language}")


@pytest.fixture(scope="module")
def skerries(stack: Stack) -> Stack:
    stack.ingest("ferry.pdf", pdf([FERRY]), document_id="ferry")
    stack.ingest("buoys.md", BUOYS, document_id="buoys")
    return stack


def test_records_whose_columns_have_other_names_are_sent(stack: Stack, tmp_path: Path) -> None:
    goods = tmp_path / "물건.csv"
    goods.write_text(GOODS, encoding="utf-8-sig")
    with tab() as page:
        opened(page, stack, "/entries")
        page.until("document.querySelector('#into')")
        page.run("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        page.fill("#into", "goods")
        page.choose("#records", goods)
        offered = page.until(
            "[...document.querySelectorAll('#columns option')].map(one => one.value).join()"
        )
        assert offered == "물건코드,물건이름,이야기"
        for field, column in (("id", "물건코드"), ("name", "물건이름"), ("text", "이야기")):
            page.fill(f"[data-field={field}]", column)
        page.run("document.querySelector('#records').closest('form').requestSubmit()")
        page.until("document.querySelector('#collection').value === 'goods'")
        page.until("document.querySelector('#words') && document.querySelector('main li')")
        assert "row 4: it has no id" in page.text()
        page.fill("#words", "따뜻한 물")
        page.press("Enter")
        page.until("document.querySelector('#found td code')")
        assert page.run("document.querySelector('#found td code').innerText") == "G2"


def test_a_picture_of_an_entry_is_shown_where_it_is_found(stack: Stack) -> None:
    line = json.dumps({"id": "P1", "name": "등대 사진첩", "image": SHOWN}, ensure_ascii=False)
    with stack.client() as client:
        sent = client.post(
            f"{stack.base}/collections/pictured/entries",
            files={"file": ("menu.jsonl", line.encode(), "application/x-ndjson")},
        )
        assert stack.wait(sent.json()["job_id"])["state"] == "published"
        asked = client.post(
            f"{stack.base}/collections/pictured/search", json={"query": "등대 사진첩"}
        )
        (found,) = asked.json()["entries"]
        served = client.get(found["image"])
        assert served.headers["content-type"] == "image/png"
    with tab() as page:
        opened(page, stack, "/entries/pictured/등대 사진첩")
        assert page.until("document.querySelector('#found img').naturalWidth") > 0
        assert page.run("document.querySelector('#found img').alt") == "등대 사진첩"


def test_on_a_phone_a_piece_opens_below_its_line_and_tables_are_cards(skerries: Stack) -> None:
    with tab(*PHONE) as page:
        opened(page, skerries, "/search/classic/cardinal buoy ferry skerries")
        page.until("document.querySelectorAll('.hit').length > 1")
        page.click(".hit + .hit")
        page.until("document.querySelectorAll('.hit')[1].nextElementSibling.querySelector('h3')")
        opened(page, skerries, "/documents")
        page.until("document.querySelector('tbody tr')")
        width = page.run("document.documentElement.scrollWidth")
        assert width <= PHONE[0]
        head = "getComputedStyle(document.querySelector('tbody td + td'), '::before').content"
        assert page.run(head) == '"상태"'
        assert page.run("getComputedStyle(document.querySelector('tbody tr')).display") == "block"


def test_what_was_typed_stays_and_back_goes_to_the_search_before(skerries: Stack) -> None:
    with tab() as page:
        opened(page, skerries, "/search", "en")
        page.fill("#query", "ferry skerries")
        page.click("#language")
        page.until("document.querySelector('label[for=query]').innerText.includes('근거')")
        assert page.run("document.querySelector('#query').value") == "ferry skerries"
        assert page.run("document.title") == "검색 · Groundwire"
        page.press("Enter")
        page.until("document.querySelector('.hit')")
        page.fill("#query", "cardinal buoy")
        page.click("button.main")
        page.until("location.hash.includes('cardinal')")
        page.run("history.back()")
        page.until("document.querySelector('#query').value === 'ferry skerries'")
        page.until("document.querySelector('.hit').innerText.includes('ferry.pdf')")


def test_a_citation_that_may_not_be_copied_is_shown(skerries: Stack) -> None:
    with tab() as page:
        opened(page, skerries, "/search/classic/ferry skerries", "en")
        page.until("document.querySelector('aside, .stick button')")
        page.run("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        page.click(".stick button")
        told = page.until("document.querySelector('.stick code').innerText")
        assert json.loads(told)["document_id"] == "ferry"
        page.click(".stick button + button")
        page.until("document.querySelector('.stick .good').innerText === 'verified'")


def test_files_that_are_sent_lead_to_their_documents(stack: Stack, tmp_path: Path) -> None:
    files = [tmp_path / f"보고서 {n}.md" for n in range(5)]
    for n, file in enumerate(files):
        file.write_text(f"# 보고서 {n}\n\n암초 조사 {n}차 결과입니다.\n")
    with tab() as page:
        opened(page, stack, "/documents")
        page.choose("#files", *files)
        page.until("document.querySelectorAll('.sent .good').length === 5")
        assert "게시됨" in page.run("document.querySelector('.sent').innerText")
        page.click("nav a[href='#/jobs']")
        page.until("document.querySelector('h2').innerText === '작업'")
        page.click("nav a[href='#/documents']")
        page.click(".sent a")
        page.until("document.querySelector('h2').innerText === '보고서 0.md'")
        page.until("document.querySelector('.tree').innerText.includes('근거: 마크업')")
