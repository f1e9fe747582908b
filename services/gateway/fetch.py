"""Fetching a document by its address: only from hosts that are allowed, never from inside.

The name is resolved once and every address it has must be public; the connection goes to one
of those very addresses (the certificate is still checked against the name), so that a second
answer of the name server changes nothing. Redirects are followed a few times, each like a new
address. Nothing of the caller goes along: no key, no cookie.
"""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

import httpx

from libs.contracts.faults import CallerFault, Code
from libs.contracts.tokens import safe_file_name
from services.gateway.http.errors import invalid

MAX_REDIRECTS = 5
MAX_URL_CHARS = 4096
TIMEOUT = httpx.Timeout(30.0, connect=10.0)
DEFAULT_NAME = "document"

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""From a host and a port to its addresses."""


@dataclass(frozen=True)
class Fetched:
    """An answer whose body has not been read yet. `pieces` ends with an error where the
    connection does."""

    file_name: str
    media_type: str | None
    size: int | None
    pieces: AsyncIterator[bytes]


async def resolve(host: str, port: int) -> Sequence[str]:
    """All addresses of a host. Raises 422 for a name that has none."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise invalid("url: its host is not known to the name server") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True)
class Fetcher:
    """Fetches from `hosts` (names; `*.example.org` allows all below example.org).

    `public_only` is off in tests alone, whose servers listen on this machine.
    """

    hosts: Sequence[str]
    resolver: Resolve = resolve
    transport: httpx.AsyncBaseTransport | None = None
    public_only: bool = True

    @asynccontextmanager
    async def open(self, url: str) -> AsyncIterator[Fetched]:
        """The document behind an address.

        Raises 403 for what is not allowed, and 422 for an address that does not serve a
        document, also when its server does not answer or breaks off.
        """
        async with httpx.AsyncClient(
            transport=self.transport, timeout=TIMEOUT, trust_env=False, follow_redirects=False
        ) as client:
            for _ in range(MAX_REDIRECTS + 1):
                request = await self._request(client, url)
                try:
                    answer = await client.send(request, stream=True)
                except httpx.TransportError:
                    raise invalid("url: its server does not answer") from None
                try:
                    if answer.has_redirect_location:
                        url = _target(url, answer)
                        continue
                    if answer.status_code != 200:
                        raise invalid(f"url: its server answers {answer.status_code}")
                    yield _fetched(url, answer)
                    return
                finally:
                    await answer.aclose()
            raise invalid(f"url: redirects more than {MAX_REDIRECTS} times")

    async def _request(self, client: httpx.AsyncClient, url: str) -> httpx.Request:
        pinned = await self._pinned(url)
        try:
            request = client.build_request("GET", pinned)
            request.headers["Host"] = urlsplit(url).netloc.rpartition("@")[2]
        except (httpx.InvalidURL, ValueError):
            raise invalid("url: is not an address") from None
        request.extensions["sni_hostname"] = urlsplit(url).hostname
        return request

    async def _pinned(self, url: str) -> str:
        """The address with its host replaced by a number that was checked."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise invalid("url: is not an address") from None
        if parts.scheme not in {"http", "https"} or not host or len(url) > MAX_URL_CHARS:
            raise invalid("url: give an http or https address")
        if parts.username is not None or parts.password is not None:
            raise invalid("url: a name or password in it is not taken")
        if not _allowed(host, self.hosts):
            raise _refused("url: its host is not on the list of hosts that are allowed here "
                           "(GROUNDWIRE_URL_HOSTS)")  # fmt: skip
        addresses = await self.resolver(host, port or (443 if parts.scheme == "https" else 80))
        if not addresses or (self.public_only and not all(_public(a) for a in addresses)):
            raise _refused("url: its host has an address that is not public")
        address = addresses[0]
        bracketed = f"[{address}]" if ":" in address else address
        place = bracketed if port is None else f"{bracketed}:{port}"
        return parts._replace(netloc=place, fragment="").geturl()


def _allowed(host: str, hosts: Sequence[str]) -> bool:
    host = host.rstrip(".").lower()
    return any(
        host.endswith(allowed[1:]) if allowed.startswith("*.") else host == allowed
        for allowed in (entry.strip().rstrip(".").lower() for entry in hosts)
        if allowed
    )


def _public(address: str) -> bool:
    """Whether it is an address of the open network, mapped and tunnelled forms unwrapped."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is None and (ip not in _UNICAST or ip.sixtofour or ip.teredo):
            return False
        ip = ip.ipv4_mapped or ip
    if any(ip in network for network in _SPECIAL):
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


_UNICAST = ipaddress.ip_network("2000::/3")
"""All that is given out of IPv6; translated, site-local and other forms lie outside."""
_SPECIAL = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24")))
"""Protocol assignments and relays of 6to4, which some versions of Python call global."""


def _refused(detail: str) -> CallerFault:
    return CallerFault(Code.FORBIDDEN, detail, 403)


def _target(url: str, answer: httpx.Response) -> str:
    location: str = answer.headers.get("location", "")
    try:
        return urljoin(url, location)
    except ValueError:
        raise invalid("url: redirects to what is not an address") from None


def _fetched(url: str, answer: httpx.Response) -> Fetched:
    name = unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2]) or DEFAULT_NAME
    length = answer.headers.get("content-length", "")
    return Fetched(
        file_name=safe_file_name(name),
        media_type=answer.headers.get("content-type"),
        size=int(length) if length.isdecimal() else None,
        pieces=_pieces(answer),
    )


async def _pieces(answer: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for piece in answer.aiter_bytes():
            yield piece
    except httpx.DecodingError:
        raise invalid("url: its server sends what it does not announce") from None
    except httpx.TransportError:
        raise invalid("url: its server broke off") from None
