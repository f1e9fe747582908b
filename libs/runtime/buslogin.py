"""How the bus is reached: its servers, and one user for all of them.

The client library sends the credentials of a URL to that server alone, and none to the
servers of a cluster that it learns of later; so they are taken out of the URL.
"""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

FORM = "nats://<user>:<password>@<host>:<port>, or tls://…; several with commas between"


@dataclass(frozen=True)
class BusLogin:
    """URLs without credentials, and what a client says to each of them."""

    servers: list[str]
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    def broker(self) -> dict[str, Any]:
        """As a broker takes them."""
        from faststream.nats.security import NatsToken, NatsUserPassword

        if self.user is None:
            return {"servers": self.servers}
        if self.password is None:
            return {"servers": self.servers, "security": NatsToken(self.user)}
        return {"servers": self.servers, "security": NatsUserPassword(self.user, self.password)}

    def options(self) -> dict[str, Any]:
        """As `nats.connect` takes them. A user without a password is a token."""
        if self.user is None:
            return {"servers": self.servers}
        if self.password is None:
            return {"servers": self.servers, "token": self.user}
        return {"servers": self.servers, "user": self.user, "password": self.password}


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
