"""The object store's conformance suite over S3, as SeaweedFS speaks it, and what is S3's own."""

import asyncio
import dataclasses
import hashlib
import os
import secrets
import sys
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx
import pytest

from libs.contracts.faults import Code, DocumentFault, WorldFault
from libs.runtime.objects.factory import prepare_objects
from libs.runtime.objects.port import ObjectInfo
from libs.runtime.objects.s3 import S3ObjectStore
from libs.runtime.objects.s3_place import S3Keys, S3Place
from libs.runtime.objects.s3_upload import PART_BYTES
from tests.contract.suites.objects import ObjectStoreSuite, collect, keys, pieces
from tests.support.servers import Servers, servers_in_a_folder
from tests.support.waiting import PATIENCE, until


@pytest.fixture
def s3_keys(servers: Servers) -> S3Keys:
    settings = servers["seaweedfs"].settings
    return S3Keys(
        settings["GROUNDWIRE_OBJECTS_ACCESS_KEY"], settings["GROUNDWIRE_OBJECTS_SECRET_KEY"]
    )


@pytest.fixture
def s3_url(servers: Servers, s3_keys: S3Keys) -> str:
    """A bucket of the test's own."""
    options = servers["seaweedfs"].settings["GROUNDWIRE_OBJECTS_URL"].partition("?")[2]
    url = f"s3://test-{secrets.token_hex(8)}?{options}"
    prepare_objects(url, s3_keys)
    return url


@pytest.fixture
async def s3_store(s3_url: str, s3_keys: S3Keys) -> AsyncIterator[S3ObjectStore]:
    store = S3ObjectStore(S3Place.of(s3_url), s3_keys)
    yield store
    await store.close()


@pytest.fixture
def store(s3_store: S3ObjectStore) -> S3ObjectStore:
    return s3_store


class TestS3ObjectStore(ObjectStoreSuite):
    @pytest.fixture
    async def store(self, s3_store: S3ObjectStore) -> S3ObjectStore:
        return s3_store

    @pytest.fixture
    def open_store_source(self, s3_url: str, s3_keys: S3Keys) -> str:
        return (
            "from libs.runtime.objects.factory import open_objects\n"
            "from libs.runtime.objects.s3_place import S3Keys\n"
            f"KEYS = S3Keys({s3_keys.access!r}, {s3_keys.secret!r})\n"
            f"def open_store(): return open_objects({s3_url!r}, KEYS)\n"
        )


class TestLargeUploads:
    async def test_parts_become_one_object_and_leave_nothing(self, store: S3ObjectStore) -> None:
        data = os.urandom(2 * PART_BYTES + 5)
        info = await store.put("a/large", pieces(data[:7], data[7:]), media_type="text/한글; x=1")
        assert info == ObjectInfo(
            "a/large", len(data), hashlib.sha256(data).hexdigest(), "text/한글; x=1"
        )
        assert await store.stat("a/large") == info
        assert (
            await collect(store.stream("a/large", PART_BYTES - 3, PART_BYTES + 3))
            == (data[PART_BYTES - 3 : PART_BYTES + 3])
        )
        assert await leftovers(store) == []

    @pytest.mark.parametrize("size", [PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES])
    async def test_sizes_around_a_part(self, store: S3ObjectStore, size: int) -> None:
        data = os.urandom(size)
        info = await store.put("a/b", pieces(data), max_bytes=size)
        assert info.size == size
        assert await store.get("a/b") == data

    async def test_what_is_not_finished_leaves_nothing(self, store: S3ObjectStore) -> None:
        part = bytes(PART_BYTES)
        with pytest.raises(DocumentFault):
            await store.put("a/b", pieces(part, part, part, b"x"), max_bytes=3 * PART_BYTES)
        assert await keys(store) == []
        assert await leftovers(store) == []

    async def test_memory_stays_bounded(self, s3_url: str, s3_keys: S3Keys) -> None:
        source = (
            "import asyncio, resource\n"
            "from libs.runtime.objects.factory import open_objects\n"
            "from libs.runtime.objects.s3_place import S3Keys\n"
            "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10\n"
            "async def ones(count):\n"
            "    for _ in range(count): yield bytes(1 << 20)\n"
            "async def main():\n"
            f"    keys = S3Keys({s3_keys.access!r}, {s3_keys.secret!r})\n"
            f"    store = open_objects({s3_url!r}, keys)\n"
            "    await store.put('a/small', ones(24))\n"
            "    before = peak()\n"
            "    await store.put('a/large', ones(160))\n"
            "    async with store.local('a/large') as path:\n"
            "        assert path.stat().st_size == 160 << 20\n"
            "    print(peak() - before)\n"
            "asyncio.run(main())\n"
        )
        done = await asyncio.create_subprocess_exec(
            sys.executable, "-c", source, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await asyncio.wait_for(done.communicate(), PATIENCE)
        assert int(out) < 32, f"{out!r} MiB more for an upload of 160 MiB than for one of 24"


class TestLinks:
    async def test_a_link_is_bound_to_method_key_and_time(self, store: S3ObjectStore) -> None:
        link = await store.upload_link("inbox/한글 a+b.txt", 60)
        async with httpx.AsyncClient() as client:
            assert (await client.put(link, content=b"sent")).status_code == 200
            assert (await client.get(link)).status_code == 403
            other = link.replace("a%2Bb", "a%2Bc")
            assert other != link
            assert (await client.put(other, content=b"x")).status_code == 403
            longer = link.replace("X-Amz-Expires=60", "X-Amz-Expires=600")
            assert longer != link
            assert (await client.put(longer, content=b"x")).status_code == 403
            seen = await client.get(await store.download_link("inbox/한글 a+b.txt", 60))
        assert seen.content == b"sent"
        assert await keys(store) == ["inbox/한글 a+b.txt"]

    async def test_a_link_ends(self, store: S3ObjectStore) -> None:
        link = await store.upload_link("a/b", 1)
        async with httpx.AsyncClient() as client:

            async def refused() -> bool:
                return (await client.put(link, content=b"late")).status_code == 403

            await until(refused, what="the end of the link")

    @pytest.mark.parametrize("seconds", [0, -1, 8 * 24 * 3600])
    async def test_a_link_lives_a_sane_time(self, store: S3ObjectStore, seconds: int) -> None:
        with pytest.raises(ValueError, match="a link lives"):
            await store.upload_link("a/b", seconds)
        with pytest.raises(ValueError, match="not an object key"):
            await store.download_link("../b", 60)


class TestTrouble:
    async def test_what_another_program_stored_is_an_object(self, store: S3ObjectStore) -> None:
        async with httpx.AsyncClient() as client:
            await client.put(await store.upload_link("a/b", 60), content=b"theirs")
        sha256 = hashlib.sha256(b"theirs").hexdigest()
        assert await store.stat("a/b") == ObjectInfo("a/b", 6, sha256)
        assert await store.copy("a/b", "a/c") == ObjectInfo("a/c", 6, sha256)

    async def test_the_store_keeps_its_own_folder(self, store: S3ObjectStore) -> None:
        for key in (".store/uploads/x", ".store/x"):
            with pytest.raises(ValueError, match="the store's own folder"):
                await store.put(key, b"x")

    async def test_a_missing_bucket_is_a_store_that_is_away(
        self, s3_url: str, s3_keys: S3Keys
    ) -> None:
        place = dataclasses.replace(S3Place.of(s3_url), bucket="nowhere-at-all")
        store = S3ObjectStore(place, s3_keys)
        calls: list[Callable[[], Awaitable[object]]] = [
            lambda: store.put("a", b"x"),
            lambda: store.get("a"),
            lambda: store.stat("a"),
            lambda: store.copy("a", "b"),
            lambda: store.delete(["a"]),
            lambda: keys(store),
            lambda: collect(store.stream("a")),
        ]
        for call in calls:
            with pytest.raises(WorldFault, match="no such bucket") as fault:
                await call()
            assert fault.value.code is Code.STORE_AWAY
        await store.close()

    @pytest.mark.parametrize("wrong", ["access", "secret"])
    async def test_wrong_keys_are_named_without_being_told(
        self, s3_url: str, s3_keys: S3Keys, wrong: str
    ) -> None:
        store = S3ObjectStore(
            S3Place.of(s3_url), dataclasses.replace(s3_keys, **{wrong: "not-the-right-one"})
        )
        with pytest.raises(WorldFault, match="GROUNDWIRE_OBJECTS_SECRET_KEY") as fault:
            await store.put("secret/name", b"x")
        assert "secret/name" not in str(fault.value)
        assert s3_keys.secret not in f"{fault.value}{s3_keys}"
        assert fault.value.__suppress_context__
        await store.close()

    async def test_a_killed_server_is_away_and_keeps_what_it_acknowledged(self) -> None:
        with servers_in_a_folder() as own:
            settings = own["seaweedfs"].settings
            s3_keys = S3Keys(
                settings["GROUNDWIRE_OBJECTS_ACCESS_KEY"], settings["GROUNDWIRE_OBJECTS_SECRET_KEY"]
            )
            prepare_objects(settings["GROUNDWIRE_OBJECTS_URL"], s3_keys)
            prepare_objects(settings["GROUNDWIRE_OBJECTS_URL"], s3_keys)
            store = S3ObjectStore(S3Place.of(settings["GROUNDWIRE_OBJECTS_URL"]), s3_keys)
            names = [f"kept/{n:03}" for n in range(100)]
            await asyncio.gather(*(store.put(name, name.encode()) for name in names))
            own["seaweedfs"].kill()
            async with asyncio.timeout(PATIENCE):
                with pytest.raises(WorldFault):
                    await store.get(names[0])
                with pytest.raises(WorldFault):
                    await store.put("lost", b"x")
            own.start("seaweedfs")
            assert await keys(store, "kept/") == names
            assert [await store.get(name) for name in names] == [n.encode() for n in names]
            await store.close()


async def leftovers(store: S3ObjectStore) -> list[str]:
    """What uploads left: parts that nobody finished, and objects of the adapter's own."""
    client, name = store._bucket.client, store._bucket.name
    uploads = await asyncio.to_thread(client._list_multipart_uploads, name)
    objects = await asyncio.to_thread(
        lambda: list(client.list_objects(name, prefix=".store/", recursive=True))
    )
    return [one.object_name for one in uploads.uploads] + [str(o.object_name) for o in objects]
