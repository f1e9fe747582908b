"""The audit log: every act that takes something away or decides who may do what is in it."""

from datetime import timedelta
from typing import Any

import pytest

from libs.contracts.faults import Code, WorldFault
from tests.support.gateway_fakes import FakeBus, World
from tests.unit.gateway.test_guard import fill, routes
from tests.unit.gateway.test_pauses import Durables

DOCUMENT = "/v1/namespaces/{ns}/documents/{document_id}"
LETTER = "/v1/dead-letters/{letter}"
ACTS = {
    ("DELETE", DOCUMENT): "document.delete",
    ("POST", f"{DOCUMENT}/revisions/{{number}}/activate"): "document.activate",
    ("POST", f"{DOCUMENT}/reprocess"): "document.reprocess",
    ("DELETE", "/v1/namespaces/{ns}/collections/{collection}/entries/{entry_id}"): "entry.delete",
    ("POST", f"{LETTER}/replay"): "dead_letter.replay",
    ("DELETE", LETTER): "dead_letter.discard",
    ("POST", "/v1/namespaces"): "namespace.create",
    ("POST", "/v1/keys"): "key.create",
    ("POST", "/v1/keys/{key_id}/rotate"): "key.rotate",
    ("DELETE", "/v1/keys/{key_id}"): "key.revoke",
    ("PUT", "/v1/pauses/stages/{stage}"): "stage.pause",
    ("DELETE", "/v1/pauses/stages/{stage}"): "stage.resume",
    ("PUT", "/v1/pauses/namespaces/{namespace}"): "namespace.pause",
    ("DELETE", "/v1/pauses/namespaces/{namespace}"): "namespace.resume",
}
ELSEWHERE = {"entry.delete", "dead_letter.replay", "dead_letter.discard"}
"""Tried where there are entries, and letters on a real bus."""


def test_no_route_of_operators_and_none_that_deletes_is_forgotten() -> None:
    acting = {
        (method, path.replace(":path", ""))
        for method, path, role in routes()
        if method == "DELETE" or (method != "GET" and role in ("operator", "admin"))
    }
    assert acting == set(ACTS) - {("POST", f"{DOCUMENT}/revisions/{{number}}/activate")}


async def prepared() -> World:
    """A world with a published document `d` of the namespace acme."""
    bus = FakeBus()
    bus.js = Durables()  # type: ignore[attr-defined]
    world = World(bus)
    async with world.client() as client:
        sent = await client.post(
            "/v1/namespaces/acme/documents",
            files={"file": ("a.md", b"xyzzyplugh")},
            data={"document_id": "d"},
        )
    job = world.jobs.change(sent.json()["job_id"], state="published")
    world.documents.publish(job, {}, {})
    return world


async def act(world: World, method: str, path: str, target: str, body: Any = None) -> None:
    values = {"document_id": "d", "stage": "parser", "namespace": "acme", "key_id": target}
    async with world.client("root", "admin") as admin:
        answer = await admin.request(method, fill(path, **values), json=body)
    assert answer.status_code < 300, answer.text


@pytest.mark.parametrize(
    ("method", "path"), [key for key, action in ACTS.items() if action not in ELSEWHERE]
)
async def test_an_act_is_in_the_log_with_who_what_and_when(method: str, path: str) -> None:
    world = await prepared()
    world.keys.issue("acme", "reader")
    victim = list(world.keys.records)[-1]
    bodies = {
        "/v1/keys": {"namespace": "acme", "role": "reader", "label": "secret label"},
        "/v1/namespaces": {"namespace": "fresh"},
    }
    await act(world, method, path, victim, bodies.get(path))
    [entry] = world.audit.entries
    actor = list(world.keys.records.values())[-1]
    if path.startswith("/v1/keys") and method == "POST":
        actor = list(world.keys.records.values())[-2]
    assert (entry.action, entry.role, entry.key_id) == (ACTS[method, path], "admin", actor.key_id)
    expected = {"/v1/namespaces": "fresh"}.get(path, None if "stages" in path else "acme")
    assert entry.namespace == expected
    assert entry.target
    told = entry.model_dump_json()
    hidden = [r.secret_hash for r in world.keys.records.values()]
    assert not [s for s in (*hidden, "xyzzyplugh", "a.md", "secret label") if s in told]


async def test_what_cannot_be_written_down_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    world = await prepared()

    async def away(_entry: object) -> None:
        raise WorldFault(Code.STORE_AWAY, "away")

    monkeypatch.setattr(world.audit, "add", away)
    async with world.client() as client:
        refused = await client.delete("/v1/namespaces/acme/documents/d")
        there = await client.get("/v1/namespaces/acme/documents/d")
    assert (refused.status_code, there.status_code) == (503, 200)


async def test_an_operator_reads_its_own_namespace_and_an_admin_all() -> None:
    world = await prepared()
    for _ in range(3):
        await act(world, "POST", f"{DOCUMENT}/revisions/{{number}}/activate", "")
    await act(world, "PUT", "/v1/pauses/stages/{stage}", "")
    async with world.client("acme", "operator") as mine:
        first = (await mine.get("/v1/audit", params={"limit": 2})).json()
        rest = (await mine.get("/v1/audit", params={"cursor": first["next_cursor"]})).json()
        none = (await mine.get("/v1/audit", params={"action": "key.create"})).json()
        foreign = await mine.get("/v1/audit", params={"namespace": "other"})
    assert [len(page["items"]) for page in (first, rest, none)] == [2, 1, 0]
    assert {entry["namespace"] for entry in first["items"] + rest["items"]} == {"acme"}
    assert foreign.status_code == 404
    async with world.client("other", "operator") as stranger, world.client("acme") as writer:
        assert (await stranger.get("/v1/audit")).json()["items"] == []
        assert (await writer.get("/v1/audit")).status_code == 403
    async with world.client("root", "admin") as admin:
        everything = (await admin.get("/v1/audit")).json()["items"]
        one = (await admin.get("/v1/audit", params={"target": "parser"})).json()["items"]
    assert (len(everything), everything[0]["namespace"]) == (4, None)
    assert [entry["action"] for entry in one] == ["stage.pause"]


async def test_two_keys_are_good_at_once_while_one_takes_over_from_the_other() -> None:
    world = await prepared()
    old = world.keys.issue("acme", "reader")
    key_id = list(world.keys.records)[-1]
    async with world.client("root", "admin") as admin, world.client(role=None) as user:

        async def asks(secret: str) -> int:
            header = {"Authorization": f"Bearer {secret}"}
            return (await user.get("/v1/namespaces/acme/jobs", headers=header)).status_code

        path = f"/v1/keys/{key_id}/rotate"
        fresh = (await admin.post(path, params={"overlap_seconds": 3600})).json()
        assert [await asks(old), await asks(fresh["secret"])] == [200, 200]
        ends = world.keys.records[key_id].revoked_at
        assert ends is not None
        assert ends > world.deps.clock() + timedelta(minutes=59)
        listed = (await admin.get("/v1/keys", params={"namespace": "acme"})).json()["items"]
        assert {key["key_id"]: bool(key["revoked_at"]) for key in listed}[key_id]
        assert (await admin.delete(f"/v1/keys/{key_id}")).status_code == 204
        assert [await asks(old), await asks(fresh["secret"])] == [401, 200]
        too_long = await admin.post(path, params={"overlap_seconds": 10**9})
    assert too_long.status_code == 422
    [rotated] = [e for e in world.audit.entries if e.action == "key.rotate"]
    assert rotated.detail == {"successor": fresh["key_id"], "overlap_seconds": 3600}
    assert fresh["secret"] not in "".join(e.model_dump_json() for e in world.audit.entries)


async def test_a_key_that_ends_ahead_is_remembered_no_longer_than_that() -> None:
    world = await prepared()
    moment = [0.0]

    class Clock:
        @staticmethod
        def timestamp() -> float:
            return moment[0]

    world.app.state.gate._clock = Clock
    secret = world.keys.issue("acme", "reader")
    key_id = list(world.keys.records)[-1]
    ends = world.deps.clock() + timedelta(hours=1)
    await world.keys.revoke(key_id, ends)
    moment[0] = ends.timestamp() - 1
    headers = {"Authorization": f"Bearer {secret}"}
    async with world.client(role=None) as user:
        assert (await user.get("/v1/self", headers=headers)).status_code == 200
        await world.keys.revoke(key_id)
        assert (await user.get("/v1/self", headers=headers)).status_code == 200
        moment[0] = ends.timestamp() + 0.5
        assert (await user.get("/v1/self", headers=headers)).status_code == 401
