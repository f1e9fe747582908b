"""The web page in a real browser: every view says what the service says, and breaks no policy."""

import re
import shutil
import subprocess
import tempfile

import pytest

from tests.support.documents import MARKDOWN, pdf
from tests.support.stack import KEY, Stack
from tests.support.waiting import PATIENCE

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs a browser: apt-get install chromium"
)


TRIES = 6
PUMP = "0-pump-page"
"""Listed first among the documents of the shared stack, which are more than a page shows."""
LIGHTHOUSE = [
    (20, "Lighthouse keeping"),
    (11, "The lantern of the lighthouse turns upon a bath of mercury."),
]
"""Said by no other document of the shared stack: equal chunks are shown once."""


def opened(stack: Stack, view: str, shows: str, language: str = "en") -> str:
    """The page's nodes once they show a text; the browser waits for calls, but not for long."""
    for _ in range(TRIES):
        dom = loaded(stack, view, language)
        if shows in dom:
            break
    return dom


def loaded(stack: Stack, view: str, language: str) -> str:
    return dumped(f"{stack.url}/#key={KEY}&view={view}&lang={language}")


def dumped(address: str, *options: str) -> str:
    """The nodes of a page in a browser that knows nothing yet."""
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
             f"--user-data-dir={folder}", "--window-size=1280,900", "--virtual-time-budget=20000",
             "--dump-dom",
             *options, address],
            capture_output=True, text=True, timeout=PATIENCE, check=True,
        )  # fmt: skip
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not [line for line in console if re.search(r"Refused|Uncaught|Error", line)], console
    return done.stdout


@pytest.fixture(scope="module")
def filled(stack: Stack) -> Stack:
    stack.ingest("lighthouse.pdf", pdf([LIGHTHOUSE]), document_id="lighthouse")
    stack.ingest("pump-page.md", MARKDOWN.encode(), document_id=PUMP)
    return stack


def test_a_search_shows_evidence_beside_its_page(filled: Stack) -> None:
    dom = opened(filled, "/search/agentic/lantern%20upon%20mercury", 'src="blob:')
    assert "lighthouse.pdf" in dom
    assert "turns upon a bath of mercury" in dom
    assert re.search(r'<svg class="plan"[^>]+aria-label="[^"]*search[^"]* → render"', dom)
    assert re.search(r'<img class="page" src="blob:[^"]+" alt="lighthouse.pdf, page 1"', dom)
    assert 'aria-label="search → render"' in dom or "<rect" in dom
    assert KEY not in dom


def test_documents_and_one_of_them(filled: Stack) -> None:
    listed = opened(filled, "/documents", f"#/document/{PUMP}", "ko")
    assert '<html lang="ko">' in listed
    assert "파일을 끌어다 놓거나" in listed
    assert f'href="#/document/{PUMP}"' in listed
    one = opened(filled, f"/document/{PUMP}", "Lubrication")
    assert "Lubrication" in one
    assert "decided by" in one
    assert 'aria-selected="true"' in one


def test_jobs_say_what_failed_and_why(filled: Stack) -> None:
    job = filled.upload("broken-page.pdf", b"%PDF-1.4 broken")
    filled.wait(job["job_id"])
    dom = opened(filled, "/jobs", "broken-page.pdf")
    assert "broken-page.pdf" in dom
    assert "The file cannot be read. (the PDF cannot be opened" in dom
    korean = opened(filled, "/jobs", "broken-page.pdf", "ko")
    assert "읽을 수 없는 파일입니다. (the PDF cannot be opened" in korean
    assert re.search(r'<td class="bad"[^>]*>실패</td>', korean)


def test_what_is_not_there_is_said_and_nothing_else_stays(filled: Stack) -> None:
    dom = opened(filled, "/document/nobodys", "cannot be shown")
    assert "It is not there, or not yours to see." in dom
    assert "This view cannot be shown." in dom


def test_a_key_out_of_a_link_is_asked_about_first_but_on_this_machine(filled: Stack) -> None:
    elsewhere = ("--host-resolver-rules=MAP groundwire.test 127.0.0.1",)
    address = f"http://groundwire.test:{filled.port}/#key={{}}&view=/documents&lang=en"
    for _ in range(TRIES):
        asked = dumped(address.format(KEY), *elsewhere)
        if 'id="offered"' in asked:
            break
    assert "This link opens the namespace default" in asked
    assert "pump-page" not in asked
    for _ in range(TRIES):
        refused = dumped(address.format("gw_nobodys"), *elsewhere)
        if "not taken" in refused:
            break
    assert "The key of this link is not taken." in refused
    assert 'id="offered"' not in refused
    assert "gw_nobodys" not in refused
