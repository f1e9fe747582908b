"""Namespaces, keys and usage."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.gateway_fakes import World


async def test_a_key_is_made_used_rotated_and_revoked() -> None:
    world = World()
    async with world.client("root", "admin") as admin, world.client(role=None) as user:
        await admin.post("/v1/namespaces", json={"namespace": "acme"})
        made = await admin.post(
            "/v1/keys", json={"namespace": "acme", "role": "reader", "label": "ci"}
        )
        secret = made.json()["secret"]

        async def asks(secret: str) -> int:
            answer = await user.get(
                "/v1/namespaces/acme/jobs", headers={"Authorization": f"Bearer {secret}"}
            )
            return answer.status_code

        assert await asks(secret) == 200
        rotated = await admin.post(f"/v1/keys/{made.json()['key_id']}/rotate")
        assert await asks(secret) == 401
        assert await asks(rotated.json()["secret"]) == 200
        gone = await admin.delete(f"/v1/keys/{rotated.json()['key_id']}")
        again = await admin.delete(f"/v1/keys/{rotated.json()['key_id']}")
        assert await asks(rotated.json()["secret"]) == 401
        listed = await admin.get("/v1/keys", params={"namespace": "acme"})
    assert (gone.status_code, again.status_code) == (204, 404)
    assert rotated.json()["role"] == "reader"
    assert [k["secret"] for k in listed.json()["items"]] == [None, None]
    assert secret not in listed.text
    assert all(secret not in r.secret_hash for r in world.keys.records.values())


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/keys", {"namespace": "nowhere", "role": "reader"}, 404),
        ("/v1/keys", {"namespace": "root", "role": "king"}, 422),
        ("/v1/namespaces", {"namespace": "root"}, 409),
        ("/v1/namespaces", {"namespace": "Not.A.Token"}, 422),
    ],
)
async def test_what_cannot_be_made_is_a_problem(
    path: str, body: dict[str, Any], status: int
) -> None:
    world = World()
    async with world.client("root", "admin") as admin:
        answer = await admin.post(path, json=body)
    assert answer.status_code == status
    assert len(world.keys.records) == 1


async def test_usage_counts_by_namespace() -> None:
    world = World()

    async def active_set(namespace: str) -> Any:
        chunks = [3, 4] if namespace == "acme" else []
        return SimpleNamespace(revisions=[SimpleNamespace(chunk_count=n) for n in chunks])

    world.documents.active_set = active_set  # type: ignore[attr-defined]
    async with world.client("root", "admin") as admin, world.client("acme") as writer:
        await writer.post("/v1/namespaces/acme/documents", files={"file": ("a.md", b"x")})
        items = (await admin.get("/v1/usage", params={"namespace": "acme"})).json()["items"]
    [acme] = items
    assert (acme["documents"], acme["chunks"], acme["keys"]) == (2, 7, 1)
    assert acme["jobs"]["running"] == 1


async def test_a_namespace_that_is_not_there_is_told_by_its_name() -> None:
    async with World().client("root", "admin") as admin:
        answers = [
            await admin.get("/v1/usage", params={"namespace": "nowhere"}),
            await admin.post("/v1/keys", json={"namespace": "nowhere", "role": "reader"}),
            await admin.put("/v1/pauses/namespaces/nowhere"),
        ]
    assert {answer.status_code for answer in answers} == {404}
    assert {answer.json()["detail"] for answer in answers} == {"there is no namespace nowhere"}


async def test_only_admins_administer() -> None:
    world = World()
    async with world.client("acme", "operator") as client:
        for path in ("/v1/keys", "/v1/namespaces", "/v1/usage"):
            assert (await client.get(path)).status_code == 403
