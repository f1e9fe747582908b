"""Models in the parser: what they add, and that nothing they do can hurt a document."""

import asyncio
import base64
import io
import json
import random
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image, ImageDraw

from libs.contracts.artefacts.rows import Row
from libs.contracts.events import DocumentParsed
from libs.contracts.faults import StaleFault
from libs.runtime.models import helper
from libs.runtime.models.client import EndpointModel
from libs.runtime.models.helper import Allowance
from libs.runtime.models.port import Model
from libs.runtime.models.settings import Endpoint
from libs.runtime.models.tokens import TokenEstimate
from libs.runtime.models.use import ModelUse
from libs.runtime.work import Work
from services.parser.helped import USES, Models
from services.parser.model_levels import Heading, Level, Levels, believable
from services.parser.model_pages import description, page_text
from tests.support.models import Asked, Break, FakeModels, Hang, Reply, Say, Status, spoken
from tests.support.pdfs import PdfPage, write_pdf
from tests.support.waiting import until
from tests.unit.parser.flow import Flow, started

TITLES = [("Alpha", 18), ("Beta", 14), ("Gamma", 14), ("Delta", 18)]
BROKEN: list[Reply] = [Break("{"), Status(400), Say("no idea"), Hang(), Say("[1, 2")]


@pytest.fixture(scope="module")
def running() -> Iterator[FakeModels]:
    with FakeModels() as server:
        yield server


@pytest.fixture(scope="module")
async def base(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Flow]:
    async with started(tmp_path_factory.mktemp("models"), parser_preload_delay=0) as flow:
        yield flow


@pytest.fixture
def server(running: FakeModels) -> FakeModels:
    running.reset()
    running.otherwise = Status(400)
    return running


@pytest.fixture
async def flow(
    base: Flow, server: FakeModels, token_estimate: TokenEstimate
) -> AsyncIterator[Flow]:
    """Models that know nothing of earlier tests, a fresh memory, no answers kept."""
    opened: dict[ModelUse, Model] = {
        use: EndpointModel(use, Endpoint(url=server.url, name=f"some-{use}"), token_estimate)
        for use in USES
    }
    models = Models(opened, Allowance(calls=50, tokens=100_000))
    base.bus.said.clear()
    base.bus.queue.clear()
    base.bus.ids.clear()
    await base.stores.objects.delete_prefix("default/doc-1/")
    yield replace(base, parser=replace(base.parser, models=models))
    await models.close()


def titled_pdf() -> bytes:
    page = PdfPage()
    y = 60.0
    for title, size in TITLES:
        page.text(60, y, title, size, bold=True)
        page.lines(60, y + 30, [f"Words about {title.lower()} that go on for a while."] * 3)
        y += 110
    return write_pdf(page)


async def parsed(flow: Flow, name: str, data: bytes, job: str = "job-1") -> DocumentParsed:
    await flow.accept(name, data, job)
    return await flow.settle()


async def rows_of(flow: Flow, event: DocumentParsed) -> list[Row]:
    return await flow.rows(event.rows)


async def codes(flow: Flow, event: DocumentParsed) -> set[str]:
    return {f.code for f in (await flow.diagnostics(event.diagnostics)).findings}


def headings(rows: list[Row]) -> list[tuple[str, int | None, str | None]]:
    return [(r.text, r.level, r.evidence) for r in rows if r.kind == "heading"]


def levels(*given: int) -> Say:
    return spoken({"levels": [{"id": i, "level": level} for i, level in enumerate(given)]})


async def test_a_model_decides_levels_that_only_looks_tell(flow: Flow, server: FakeModels) -> None:
    server.will(levels(1, 2, 3, 1))
    first = await parsed(flow, "a.pdf", titled_pdf())
    assert headings(await rows_of(flow, first)) == [
        ("Alpha", 1, "model"), ("Beta", 2, "model"), ("Gamma", 3, "model"), ("Delta", 1, "model"),
    ]  # fmt: skip
    assert first.versions["model hierarchy"] == "some-hierarchy"
    (asked,) = server.asked
    assert "0 [?] (18 pt, bold) Alpha" in asked.user
    again = await parsed(flow, "a.pdf", titled_pdf(), "job-2")
    assert again.rows.sha256 == first.rows.sha256
    assert len(server.asked) == 1


@pytest.mark.parametrize("reply", BROKEN, ids=str)
async def test_a_model_that_fails_leaves_the_plain_result(
    flow: Flow, server: FakeModels, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(reply, Hang | Break):
        monkeypatch.setattr(helper, "SECONDS", 0.2)
    server.otherwise = reply
    event = await parsed(flow, "a.pdf", titled_pdf())
    assert headings(await rows_of(flow, event)) == [
        ("Alpha", 1, "font"), ("Beta", 2, "font"), ("Gamma", 2, "font"), ("Delta", 1, "font"),
    ]  # fmt: skip
    assert "model_failed" in await codes(flow, event)
    assert "model hierarchy" not in event.versions


@pytest.mark.parametrize(
    "lie",
    [
        {"levels": [{"id": i, "level": 99} for i in range(4)]},
        {"levels": [{"id": i, "level": -1} for i in range(4)]},
        {"levels": [{"id": i + 500, "level": 1} for i in range(4)]},
        {"levels": [{"id": i, "level": v} for i in range(4) for v in (1, 2)]},
        {"levels": []},
    ],
)
async def test_levels_that_cannot_be_are_not_believed(
    flow: Flow, server: FakeModels, lie: Any
) -> None:
    server.otherwise = spoken(lie)
    event = await parsed(flow, "a.pdf", titled_pdf())
    assert {evidence for _, _, evidence in headings(await rows_of(flow, event))} == {"font"}
    assert "model_refused" in await codes(flow, event)


def test_a_level_is_at_most_one_below_the_heading_before() -> None:
    given = [Heading(i, 1, f"h{i}", 12.0, True, open=i > 0) for i in range(4)]
    answer = Levels(levels=[Level(id=1, level=2), Level(id=2, level=4), Level(id=3, level=3)])
    assert believable(given, [1, 2, 3], answer) == {}
    kept = Levels(levels=[Level(id=1, level=2), Level(id=2, level=3), Level(id=3, level=9)])
    assert believable(given, [1, 2, 3], kept) == {1: 2, 2: 3}


def picture_markdown() -> bytes:
    noise = random.Random(7).randbytes(48 * 48 * 3)
    out = io.BytesIO()
    Image.frombytes("RGB", (48, 48), noise).save(out, "PNG")
    uri = base64.b64encode(out.getvalue()).decode()
    return f"# Signs\n\n![](data:image/png;base64,{uri})\n\nText.\n".encode()


async def test_a_picture_without_words_is_described_once(flow: Flow, server: FakeModels) -> None:
    server.otherwise = Say("A chart of sales:\nMay leads.")
    first = await parsed(flow, "a.md", picture_markdown())
    (image,) = [r for r in await rows_of(flow, first) if r.kind == "image"]
    assert image.text == "A chart of sales: May leads."
    again = await parsed(flow, "a.md", picture_markdown(), "job-2")
    assert again.rows.sha256 == first.rows.sha256
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "said",
    ["<script>alert(1)</script> a picture", "```\nprint(1)\n```", "1234 !!", "long " * 1000],
)
def test_what_is_no_description_is_refused(said: str) -> None:
    assert description(said) is None


def test_a_description_is_one_line_without_links() -> None:
    said = "A map.\n\n![x](http://evil.example/x.png) See https://evil.example now."
    assert description(said) == "A map. See now."
    assert len(description("word " * 200) or "") <= 400


def scan() -> bytes:
    page = PdfPage().picture(0, 0, 595, 842, (200, 60, 30))
    return write_pdf(page)


async def test_a_model_reads_scanned_pages(flow: Flow, server: FakeModels) -> None:
    def answer(asked: Asked) -> Reply:
        if asked.body["model"] == "some-ocr":
            return Say("제1장 총칙\n\n이 규정은 <b>모든</b> 직원에게 적용한다.")
        return Status(400)

    server.otherwise = answer
    event = await parsed(flow, "scan.pdf", scan())
    rows = await rows_of(flow, event)
    assert [(r.kind, r.text, r.page) for r in rows if r.kind != "image"] == [
        ("heading", "제1장 총칙", 1),
        ("paragraph", "이 규정은 모든 직원에게 적용한다.", 1),
    ]
    assert event.versions["model ocr"] == "some-ocr"
    assert "rapidocr" not in event.versions


def written(*words: str) -> bytes:
    """A scan of one line a page; the second page is dark at its right border."""
    pages = []
    for number, line in enumerate(words):
        page = Image.new("RGB", (600, 200), "white")
        ImageDraw.Draw(page).text((30, 60), line, fill="black", font_size=48)
        ImageDraw.Draw(page).rectangle((580, 0, 600, 200), fill="black" if number else "white")
        pages.append(page)
    out = io.BytesIO()
    pages[0].save(out, "PDF", resolution=72.0, save_all=True, append_images=pages[1:])
    return out.getvalue()


def is_second(asked: Asked) -> bool:
    """Whether the picture that a model is asked about is of the dark page."""
    url = re.search(r"base64,([\w+/=]+)", json.dumps(asked.body))
    if url is None:
        return False
    with Image.open(io.BytesIO(base64.b64decode(url[1]))) as picture:
        return max(picture.convert("L").getpixel((picture.width - 3, picture.height // 2)), 0) < 128


@pytest.mark.slow
@pytest.mark.parametrize("failure", [Status(400), Say("again\n" * 100)])
async def test_pages_that_a_model_leaves_are_read_here(
    flow: Flow, server: FakeModels, failure: Reply
) -> None:
    def answer(asked: Asked) -> Reply:
        if asked.body["model"] != "some-ocr":
            return Status(400)
        return failure if is_second(asked) else Say("What the model read.")

    server.otherwise = answer
    event = await parsed(flow, "scan.pdf", written("Alpha pumps", "Scanned words"))
    rows = [r for r in await rows_of(flow, event) if r.kind != "image"]
    assert [(r.text, r.page) for r in rows if r.page == 1] == [("What the model read.", 1)]
    assert "Scanned words" in " ".join(r.text for r in rows if r.page == 2)
    assert event.versions["model ocr"] == "some-ocr"
    assert "rapidocr" in event.versions


def test_pages_that_cannot_be_are_refused() -> None:
    assert page_text("over and over\n" * 100) is None
    assert page_text("x" * 50_000) is None
    assert page_text("```text\nline\n```") == "line"
    assert page_text("NOTHING.") == ""


async def test_a_cancel_ends_the_wait_for_a_model(flow: Flow, server: FakeModels) -> None:
    server.otherwise = Hang()
    await flow.accept("a.pdf", titled_pdf())
    await flow.handle(flow.bus.queue.popleft())
    flow.bus.queue.popleft()
    work = Work("job-1")
    parsing = asyncio.create_task(flow.handle(flow.bus.queue.popleft(), work))
    await until(lambda: bool(server.asked))
    work.cancel()
    with pytest.raises(StaleFault):
        await parsing


def test_prompts_hold_what_they_promise() -> None:
    assert json.loads(levels(1).text)["levels"] == [{"id": 0, "level": 1}]
    assert helper.quoted("a </document> b") == "<document>\na   b\n</document>"
