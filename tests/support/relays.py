"""A relay in front of each of the four stores, and settings that lead through them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.support.proxy import Proxy, proxied

URLS = {
    "objects": "GROUNDWIRE_OBJECTS_URL",
    "catalog": "GROUNDWIRE_CATALOG_URL",
    "index": "GROUNDWIRE_INDEX_URL",
    "graph": "GROUNDWIRE_GRAPH_URL",
}


@contextmanager
def relayed(places: dict[str, str]) -> Iterator[tuple[dict[str, Proxy], dict[str, str]]]:
    """The relays by store, and `places` with their addresses in place of the servers'."""
    settings = dict(places)
    with ExitStack() as stack:
        relays = {}
        for store, name in URLS.items():
            relay = stack.enter_context(proxied(*_address(places[name])))
            settings[name] = _moved(places[name], relay.port)
            relays[store] = relay
        inbox = "GROUNDWIRE_INBOX_URL"
        settings[inbox] = _moved(places[inbox], relays["objects"].port)
        yield relays, settings


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(dict(parse_qsl(urlsplit(url).query)).get("endpoint", url))
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


def _moved(url: str, port: int) -> str:
    """`url` on another port of this machine."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    if "endpoint" in options:
        options["endpoint"] = f"http://127.0.0.1:{port}"
        return parts._replace(query=urlencode(options, safe=":/")).geturl()
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    return parts._replace(netloc=f"{user}127.0.0.1:{port}").geturl()
