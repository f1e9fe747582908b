"""What every key store must do. Give the fixture `catalog`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from libs.contracts.events.base import now
from libs.contracts.faults import CallerFault, Code
from libs.runtime.catalog.keys import KeyRecord
from libs.runtime.catalog.port import Catalog
from tests.support.catalogs import NS, OTHER

MOMENT = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)


def key(key_id: str = "key-1", secret: str = "hash-1", **changes: Any) -> KeyRecord:
    fields: dict[str, Any] = {
        "namespace": NS,
        "role": "writer",
        "label": "build",
        "created_at": MOMENT,
        **changes,
    }
    return KeyRecord(key_id=key_id, secret_hash=secret, **fields)


class KeyStoreSuite:
    """The MUSTs of `libs/runtime/catalog/keys.py`."""

    async def test_a_namespace_is_paused_and_goes_on(self, catalog: Catalog) -> None:
        for name in (NS, OTHER):
            await catalog.keys.create_namespace(name)
        assert await catalog.keys.paused() == {}
        assert await catalog.keys.pause(NS, paused=True)
        first = await catalog.keys.paused()
        assert set(first) == {NS}
        assert await catalog.keys.pause(NS, paused=True)
        assert await catalog.keys.paused() == first
        assert await catalog.keys.pause(NS, paused=False)
        assert await catalog.keys.paused() == {}
        assert not await catalog.keys.pause("nobody", paused=True)

    async def test_a_namespace_is_made_once(self, catalog: Catalog) -> None:
        assert await catalog.keys.create_namespace(OTHER)
        assert await catalog.keys.create_namespace(NS)
        assert not await catalog.keys.create_namespace(NS)
        assert await catalog.keys.list_namespaces() == [NS, OTHER]

    async def test_a_key_is_found_by_its_hash_as_it_was_stored(self, catalog: Catalog) -> None:
        await catalog.keys.add(key())
        assert await catalog.keys.find("hash-1") == key()
        assert await catalog.keys.find("hash-2") is None
        assert await catalog.keys.list_namespaces() == [NS]

    async def test_the_same_key_again_is_no_error(self, catalog: Catalog) -> None:
        await catalog.keys.add(key())
        await catalog.keys.add(key(label="another word"))
        assert await catalog.keys.select(NS) == [key()]

    @pytest.mark.parametrize("clash", [key(secret="hash-2"), key(key_id="key-2")])
    async def test_a_key_id_or_secret_is_never_taken_over(
        self, catalog: Catalog, clash: KeyRecord
    ) -> None:
        await catalog.keys.add(key())
        with pytest.raises(CallerFault) as caught:
            await catalog.keys.add(clash)
        assert (caught.value.code, caught.value.status) == (Code.CONFLICT, 409)
        assert await catalog.keys.select(None) == [key()]

    async def test_a_revoked_key_ends_at_once_and_stays_listed(self, catalog: Catalog) -> None:
        await catalog.keys.add(key())
        assert await catalog.keys.revoke("key-1")
        assert not await catalog.keys.revoke("key-1")
        assert not await catalog.keys.revoke("unknown")
        assert await catalog.keys.find("hash-1") is None
        listed = await catalog.keys.select(NS)
        assert [one.key_id for one in listed] == ["key-1"]
        assert listed[0].revoked_at is not None
        await catalog.keys.add(key())
        assert await catalog.keys.find("hash-1") is None

    async def test_a_key_may_end_ahead_and_its_end_is_never_put_off(self, catalog: Catalog) -> None:
        await catalog.keys.add(key())
        soon = now() + timedelta(hours=1)
        assert await catalog.keys.revoke("key-1", soon)
        found = await catalog.keys.find("hash-1")
        assert found is not None
        assert (found.revoked_at, found.live(now()), found.live(soon)) == (soon, True, False)
        assert not await catalog.keys.revoke("key-1", soon + timedelta(hours=1))
        assert await catalog.keys.revoke("key-1")
        assert await catalog.keys.find("hash-1") is None

    async def test_keys_are_listed_by_namespace_oldest_first(self, catalog: Catalog) -> None:
        young = key("key-1", "hash-1", created_at=MOMENT.replace(year=2027))
        old = key("key-2", "hash-2")
        foreign = key("key-3", "hash-3", namespace=OTHER)
        for one in (young, old, foreign):
            await catalog.keys.add(one)
        assert await catalog.keys.select(NS) == [old, young]
        assert await catalog.keys.select(None) == [old, foreign, young]
        assert await catalog.keys.select("nobody") == []
