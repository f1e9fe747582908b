"""Fetching by address: what is allowed goes through, whatever leads inside does not."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import httpx
import pytest

from libs.contracts.faults import CallerFault
from services.gateway.fetch import Fetcher, resolve
from services.gateway.http import receive
from tests.support.gateway_fakes import World

PUBLIC = "93.184.215.14"
Answers = Callable[[httpx.Request], httpx.Response]


def fetcher(answers: Answers, names: dict[str, Sequence[str]] | None = None) -> Fetcher:
    async def resolver(host: str, port: int) -> Sequence[str]:
        return (names or {}).get(host, [PUBLIC])

    hosts = ["docs.example.org", "*.example.net", "inside.example.org"]
    return Fetcher(hosts, resolver, httpx.MockTransport(answers))


async def fetched(fetching: Fetcher, url: str) -> tuple[str, str | None, bytes]:
    async with fetching.open(url) as found:
        body = b"".join([piece async for piece in found.pieces])
        return found.file_name, found.media_type, body


async def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, content=b"%PDF", headers={"content-type": "application/pdf"})

    found = await fetched(fetcher(answer), "https://docs.example.org/a/Annual%20report.pdf?v=1#x")
    assert found == ("Annual report.pdf", "application/pdf", b"%PDF")
    (request,) = seen
    assert str(request.url) == f"https://{PUBLIC}/a/Annual%20report.pdf?v=1"
    assert request.headers["host"] == "docs.example.org"
    assert request.extensions["sni_hostname"] == "docs.example.org"
    assert "authorization" not in request.headers
    assert "cookie" not in request.headers


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("https://other.example.com/a", 403),
        ("https://docs.example.org.evil.com/a", 403),
        ("https://example.net/a", 403),
        ("https://docs.example.org@127.0.0.1/a", 422),
        ("https://user:pw@docs.example.org/a", 422),
        ("ftp://docs.example.org/a", 422),
        ("file:///etc/passwd", 422),
        ("https://docs.example.org:99999/a", 422),
        ("https://[::1", 422),
        ("//docs.example.org/a", 422),
        ("http://169.254.169.254/latest", 403),
        ("https://" + "a" * 5000 + ".example.net/", 422),
        ("https://docs.example.org/\x01", 422),
        ("https://docs.example.org/\ud800", 422),
    ],
)
async def test_other_addresses_are_refused_unasked(url: str, status: int) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise AssertionError("was asked")

    with pytest.raises(CallerFault) as refused:
        await fetched(fetcher(answer), url)
    assert refused.value.status == status


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "172.16.5.4", "192.168.1.1", "169.254.169.254", "100.64.0.1",
     "0.0.0.0", "224.0.0.1", "::1", "fe80::1%eth0", "fd00::1", "::ffff:127.0.0.1",
     "::ffff:10.1.1.1",
     "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "::127.0.0.1", "2002:7f00:1::",
     "fec0::1", "::ffff:0:127.0.0.1", "192.0.0.8", "192.88.99.1", "::ffff:192.88.99.1",
     "2001:0:7f00:1::", "255.255.255.255"],
)  # fmt: skip
async def test_a_name_that_leads_inside_is_refused(address: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise AssertionError("was asked")

    names = {"inside.example.org": [PUBLIC, address]}
    with pytest.raises(CallerFault) as refused:
        await fetched(fetcher(answer, names), "https://inside.example.org/")
    assert refused.value.status == 403


async def test_redirects_are_checked_like_new_addresses() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/to-other-path":
            return httpx.Response(302, headers={"location": "final.md"})
        if request.url.path == "/to-inside":
            return httpx.Response(302, headers={"location": "http://localhost:6379/"})
        if request.url.path == "/round":
            return httpx.Response(302, headers={"location": "/round"})
        return httpx.Response(200, content=b"# T")

    through = fetcher(answer)
    assert (await fetched(through, "https://a.example.net/to-other-path"))[0] == "final.md"
    for path, status in (("to-inside", 403), ("round", 422)):
        with pytest.raises(CallerFault) as refused:
            await fetched(through, f"https://a.example.net/{path}")
        assert refused.value.status == status


@pytest.mark.parametrize("status", [204, 206, 304, 401, 404, 500])
async def test_what_is_no_document_is_said(status: int) -> None:
    with pytest.raises(CallerFault, match=str(status)):
        await fetched(fetcher(lambda _: httpx.Response(status)), "https://docs.example.org/a")


async def test_a_redirect_to_what_is_no_address_is_the_callers_fault() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(302, headers={"location": "http://[x"})

    with pytest.raises(CallerFault, match="redirects"):
        await fetched(fetcher(answer), "https://docs.example.org/a")


async def test_a_body_that_is_not_compressed_as_announced_is_the_callers_fault() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        body = httpx.ByteStream(b"not gzip")
        return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=body)

    with pytest.raises(CallerFault, match="announce"):
        await fetched(fetcher(answer), "https://docs.example.org/a")


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..invalid", "a" * 64 + ".invalid"])
async def test_a_name_that_nobody_knows(host: str) -> None:
    with pytest.raises(CallerFault, match="name server"):
        await resolve(host, 443)


async def test_the_route_takes_what_was_fetched_within_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        size = 100 if request.url.path == "/large.md" else 10
        return httpx.Response(200, content=pieces(size))

    async def pieces(size: int) -> AsyncIterator[bytes]:
        yield b"x" * size

    def make(hosts: Sequence[str]) -> Fetcher:
        assert hosts == ["docs.example.org"]
        return fetcher(answer)

    monkeypatch.setattr(receive, "Fetcher", make)
    world = World(url_hosts=["docs.example.org"], max_upload_bytes=50)
    place = "/v1/namespaces/acme/documents"
    async with world.client() as client:
        small: Any = await client.post(place, json={"url": "https://docs.example.org/small.md"})
        large = await client.post(place, json={"url": "https://docs.example.org/large.md"})
        both = await client.post(
            place, json={"url": "https://docs.example.org/a", "upload_id": "x"}
        )
    assert small.status_code == 202, small.text
    job = world.jobs.jobs[small.json()["job_id"]]
    assert job.file_name == "small.md"
    assert (large.status_code, both.status_code) == (413, 422)
    assert not [key for key in world.objects.data if "large" in key]


async def test_a_timeout_behind_the_fetching_is_not_laid_to_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    through = fetcher(lambda _: httpx.Response(200, content=b"# T"))
    monkeypatch.setattr(receive, "Fetcher", lambda _: through)
    world = World(url_hosts=["docs.example.org"])
    body = b'{"url": "https://docs.example.org/a.md"}'
    with pytest.raises(TimeoutError):
        async with receive._from_url(body, "acme", world.deps, None) as arrival:
            assert arrival.staged.key in world.objects.data
            raise TimeoutError
    assert not world.objects.data
