"""How the bus is reached: its servers, and one user for all of them.

The client library sends the credentials of a URL to that server alone, and none to the
servers of a cluster that it learns of later; so they are taken out of the URL. And it takes
`tls://` for a wish: a server that offers no TLS, or whoever stands in its place, would be told
the credentials in the open. So they are handed out only on a connection that has TLS.
"""

import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

import nats.errors

FORM = "nats://<user>:<password>@<host>:<port>, or tls://…; several with commas between"


_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


def inbox_of(user: str | None) -> str:
    """Below which subject a user's answers come.

    Answers and pulled messages of everybody come to inboxes, so who may hear all of them hears
    everything. Each user has a prefix of its own, and may hear no other's.
    """
    return f"_INBOX_{user}" if user is not None and _PLAIN.fullmatch(user) else "_INBOX"


class TlsLacking(nats.errors.Error):
    """The server offers no TLS where `GROUNDWIRE_NATS_URL` asks for it."""

    def __str__(self) -> str:
        return "the NATS server offers no TLS, which tls:// in GROUNDWIRE_NATS_URL asks for"


class _Witness(ssl.SSLContext):
    """Trusts whom the system trusts, or the file that `SSL_CERT_FILE` names, and knows the last
    connection that was made with it."""

    _last: ssl.SSLObject | None = None

    def wrap_bio(self, *args: Any, **options: Any) -> ssl.SSLObject:
        """As the event loop asks for it, one a connection."""
        self._last = super().wrap_bio(*args, **options)
        return self._last

    def over_tls(self, secret: str) -> Callable[[], str]:
        """Hands `secret` out once for each connection, when its handshake is done; else raises
        `TlsLacking`, and the client tries another server."""

        def tell() -> str:
            last, self._last = self._last, None
            if last is None or last.version() is None:
                raise TlsLacking
            return secret

        return tell


def _witness() -> _Witness:
    context = _Witness(ssl.PROTOCOL_TLS_CLIENT)
    context.load_default_certs()
    return context


@dataclass(frozen=True)
class BusLogin:
    """URLs without credentials, and what a client says to each of them."""

    servers: list[str]
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    @property
    def encrypted(self) -> bool:
        """Whether nothing may be said without TLS."""
        return any(server.startswith("tls:") for server in self.servers)

    @property
    def inbox(self) -> str:
        """Below which subject answers and pulled messages come."""
        return inbox_of(None if self.password is None else self.user)

    def broker(self) -> dict[str, Any]:
        """As a broker takes them."""
        from faststream.nats.security import NatsToken, NatsUserPassword

        options = self.options()
        servers, context = options["servers"], options.get("tls")
        if "token" in options:
            return {
                "servers": servers,
                "security": NatsToken(options["token"], ssl_context=context),
            }
        if "user" not in options:
            return {"servers": servers}
        user, password = options["user"], options["password"]
        return {
            "servers": servers,
            "security": NatsUserPassword(user, password, ssl_context=context),
            "inbox_prefix": options["inbox_prefix"],
        }

    def options(self) -> dict[str, Any]:
        """As `nats.connect` takes them. A user without a password is a token."""
        options: dict[str, Any] = {"servers": self.servers}
        secret: Any = self.password if self.password is not None else self.user
        if self.encrypted:
            options["tls"] = context = _witness()
            secret = context.over_tls(secret or "")
        if self.password is not None:
            own = {"user": self.user, "password": secret, "inbox_prefix": self.inbox}
            return {**options, **own}
        return options if secret is None else {**options, "token": secret}

    def briefly(self, seconds: float) -> dict[str, Any]:
        """The same for one short connection: each server is asked twice, for `seconds` each, and
        then `nats.errors.NoServersError` says that nobody answers. (Without bounds the library
        asks sixty times, two seconds apart, even where it may not connect again.)"""
        return {
            **self.options(),
            "connect_timeout": seconds,
            "allow_reconnect": False,
            "max_reconnect_attempts": 1,
            "reconnect_time_wait": 0.2,
            "error_cb": _ignored,
        }


async def _ignored(error: Exception) -> None:
    """What the connection says; its caller is told by an exception."""


def login_of(url: str) -> BusLogin:
    """What a URL, or several with commas between, says; the credentials are those of the first
    that has any. `ValueError` for anything else, which keeps secrets out of its text."""
    servers: list[str] = []
    user = password = None
    for one in url.split(","):
        parts = urlsplit(one.strip())
        if parts.scheme not in ("nats", "tls") or not parts.hostname or parts.path.strip("/"):
            raise ValueError(f"GROUNDWIRE_NATS_URL is not of the form {FORM}")
        servers.append(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
        if user is None and parts.username:
            user = unquote(parts.username)
            password = None if parts.password is None else unquote(parts.password)
    return BusLogin(servers, user, password)
