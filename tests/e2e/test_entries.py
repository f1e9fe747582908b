"""A collection of entries, from a spreadsheet to everyday words, and back out of it."""

import json
from typing import Any

import httpx

from tests.support.stack import Stack

MENU = """메뉴ID,메뉴명,경로,분류,키워드,검색수,노출
M1,자동이체 등록,이체 > 자동이체 > 등록,이체,"정기 송금, 매달 이체",40122,Y
M2,환전 신청,외환 > 환전,외환,외화 바꾸기,18110,Y
M3,카드 분실 신고,카드 > 분실 신고,카드,카드 잃어버림,13050,Y
M4,인증서 갱신,인증 > 인증서 > 갱신,인증,인증서 연장,11010,Y
M5,내부 점검,기타,기타,,1,N
,이름만 있는 줄,,,,,Y
"""


def _send(client: httpx.Client, url: str, name: str, data: str, **records: Any) -> httpx.Response:
    options = {"wait_for_dense": True, "records": records}
    return client.post(
        url,
        files={"file": (name, data.encode(), "text/csv")},
        data={"options": json.dumps(options)},
    )


def test_entries_are_found_by_everyday_words_merged_and_deleted(stack: Stack) -> None:
    base = f"{stack.base}/collections/bank"
    with stack.client() as client:

        def ids(query: str, **more: Any) -> list[str]:
            answer = client.post(f"{base}/search", json={"query": query, **more})
            assert answer.status_code == 200, answer.text
            return [entry["id"] for entry in answer.json()["entries"]]

        def published(answer: httpx.Response) -> None:
            assert answer.status_code == 202, answer.text
            job = stack.wait(answer.json()["job_id"])
            assert job["state"] == "published", job

        assert client.post(f"{base}/search", json={"query": "x"}).status_code == 404
        published(_send(client, f"{base}/entries", "menu.csv", MENU))
        found = client.get(f"{stack.base}/documents/entries-bank/diagnostics").json()
        assert ("row_refused", "row 7: it has no id") in [
            (f["code"], f["detail"]) for f in found["findings"]
        ]
        assert ids("지갑을 잃어버렸어 카드부터 막아줘")[0] == "M3"
        assert ids("일본 여행 가는데 엔화로 바꿔야 해")[0] == "M2"
        assert ids("asdf qwer zxcv") == []
        assert "M5" not in ids("내부 점검")

        keywords = "메뉴ID,키워드\nM4,공인인증서 만료\n"
        published(_send(client, f"{base}/entries", "keywords.csv", keywords))
        assert ids("공인인증서 만료")[0] == "M4"
        assert ids("인증서 갱신")[0] == "M4"

        asked = "id,question\nM1,다달이 월세가 알아서 나가게\n"
        published(_send(client, f"{base}/queries", "questions.csv", asked))
        answer = client.post(f"{base}/search", json={"query": "다달이 월세가 알아서 나가게"})
        first = answer.json()["entries"][0]
        assert first["id"] == "M1"
        assert first["similarity"] >= 0.85
        assert (
            stack.search("월세가 알아서 나가게", filters={"collections": ["bank"]})["evidence"]
            == []
        )

        published(client.delete(f"{base}/entries/M3"))
        assert "M3" not in ids("카드 분실 신고")
        assert ids("환전 신청")[0] == "M2"
        assert client.delete(f"{base}/entries/M3").status_code == 404

        settings = client.get(base).json()
        settings["weights"]["threshold"] = 1.0
        assert client.put(base, json=settings).status_code == 200
        assert ids("환전") == []
    with stack.client(key="gw_" + "f" * 32) as stranger:
        assert stranger.post(f"{base}/search", json={"query": "x"}).status_code == 401
    with stack.client() as client:
        other = client.post("/v1/namespaces/other/collections/bank/search", json={"query": "x"})
        assert other.status_code == 404
