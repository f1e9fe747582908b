"""Entries described by a model and reviewed in a workbook, over the whole stack."""

import base64
import io
import json
from collections.abc import Iterator
from typing import Any

import httpx
import openpyxl
import pytest
from openpyxl.styles import Font
from PIL import Image

from tests.support.models import Asked, FakeModels, Say, spoken
from tests.support.stack import Stack, running_stack
from tests.support.waiting import wait_until


def red() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (48, 48), "red").save(out, "PNG")
    return out.getvalue()


SHOWN = f"data:image/png;base64,{base64.b64encode(red()).decode()}"
MENU = f"""id,name,path,category,keywords,image
M1,이체 취소,이체 > 취소,이체,송금 취소,"{SHOWN}"
M2,한도 조회,한도 > 조회,한도,,https://example.com/m2.png
"""


def answered(asked: Asked) -> Say:
    """A description whose text depends on what is asked; a sentence; an imagined entry."""
    if "sample_queries" in asked.system:
        name = asked.user.split("</name>")[0].removeprefix("<name>")
        wished = "도난" if "<feedback>" in asked.user else ""
        return spoken(
            {
                "function_desc": f"{name}을 한다. {wished}",
                "action_types": ["조회"],
                "user_verbs": ["물리다"],
                "keywords": [f"{name} 낱말"],
                "related_concepts": ["송금"],
                "sample_queries": [f"{name}, 어떻게 하나요 {n}" for n in range(8)],
                "embedding_text": f"{name}에 관한 글.",
            }
        )
    return Say("다른 항목과 다르다.")


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[FakeModels]:
    with FakeModels() as running:
        running.otherwise = answered
        yield running


@pytest.fixture(scope="module")
def described(server: FakeModels) -> Iterator[Stack]:
    with running_stack(**server.environment("describe", "context")) as running:
        yield running


def published(stack: Stack, answer: httpx.Response, job: Any = None) -> None:
    assert answer.status_code == 202, answer.text
    found = job or answer.json()
    state = stack.wait(found["job_id"], 120)
    assert state["state"] == "published", state


def test_described_reviewed_and_described_anew(described: Stack, server: FakeModels) -> None:
    base = f"{described.base}/collections/bank"
    with described.client() as client:
        options = {"options": json.dumps({"wait_for_dense": True})}
        file = {"file": ("menu.csv", MENU.encode(), "text/csv")}
        published(described, client.post(f"{base}/entries", files=file, data=options))
        noticed = client.get(f"{described.base}/documents/entries-bank/diagnostics").json()
        assert [f["detail"] for f in noticed["findings"] if f["code"] == "row_picture"] == [
            "row 3: its picture is an address, and nothing is fetched: send its bytes"
        ]
        cost = client.post(f"{base}/enrich", json={}).json()
        assert [(s["step"], s["model"], s["calls"]) for s in cost["steps"]] == [
            ("describe", "fake", 2),
            ("context", "fake", 2),
        ]
        assert not server.asked

        begun = client.post(f"{base}/enrich", json={"dry_run": False})
        published(described, begun, begun.json()["job"])
        assert len(server.asked) == 4
        assert [asked.pictures for asked in server.asked if asked.pictures] == [[SHOWN]]
        chunks = client.get(f"{described.base}/documents/entries-bank/chunks").json()["chunks"]
        assert [c["content"].split("\n")[0] for c in chunks] == [
            "[context] 다른 항목과 다르다."
        ] * 2
        assert client.post(f"{base}/enrich", json={}).json()["steps"][0]["calls"] == 0

        book = openpyxl.load_workbook(io.BytesIO(client.get(f"{base}/review.xlsx").content))
        sheet = book["이체"]
        sheet["E2"].font = Font(strike=True)
        sheet["E10"].value = "보낸 돈 물리고 싶어"
        sheet["G2"].value = "도난도 넣어 주세요"
        held = io.BytesIO()
        book.save(held)
        sent = client.post(f"{base}/review", files={"file": ("r.xlsx", held.getvalue())})
        for job in (sent.json()["entries"], sent.json()["questions"]):
            published(described, sent, job)
        report = client.get(f"{base}/review").json()
        assert report["added"] == [{"id": "M1", "question": "보낸 돈 물리고 싶어"}]
        assert report["removed"] == [{"id": "M1", "question": "이체 취소, 어떻게 하나요 0"}]
        assert report["feedback"] == ["M1"]
        asked = [one for one in server.asked[4:] if "sample_queries" in one.system]
        assert ["<name>이체 취소</name>" in one.user for one in asked] == [True]
        assert [one.pictures for one in asked] == [[SHOWN]], "a review keeps the picture"
        chunks = client.get(f"{described.base}/documents/entries-bank/chunks").json()["chunks"]
        images = [c["metadata"]["entry"]["image"] for c in chunks]
        assert sorted(map(bool, images)) == [False, True]
        picture = client.get(f"{described.base}/documents/entries-bank/{max(images)}")
        assert picture.content == red()

        overview = client.get(f"{base}/overview").json()
        assert (overview["entries"], overview["questions"]) == (2, 16)
        found = client.post(f"{base}/search", json={"query": "보낸 돈 물리고 싶어"}).json()
        assert found["entries"][0]["id"] == "M1"
        assert found["entries"][0]["similarity"] >= 0.85

        erasing = client.delete(f"{described.base}/documents/entries-bank").json()
        path = f"{described.base}/erasures/{erasing['erasure_id']}"
        wait_until(lambda: client.get(path).json()["state"] == "erased")
        assert not list((described.data / "objects").rglob(max(images).rpartition("/")[2]))
