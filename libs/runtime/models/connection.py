"""The `openai` library, imported when it is first needed, and its errors in our words."""

import asyncio
import contextlib
import email.utils
import functools
import importlib
import json
import logging
import ssl
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

from libs.runtime.models.failure import ModelFailed, Reason
from libs.runtime.models.settings import Endpoint

CONNECT_SECONDS = 5.0
IDLE_SECONDS = 60.0
"""The longest silence of a server within an answer."""
CONNECTIONS = 64


class UnsupportedParameter(Exception):
    """The server does not know a parameter; `text` is what it says, never to be shown."""

    def __init__(self, text: str) -> None:
        super().__init__("a parameter is not supported")
        self.text = text


class Connection:
    """One endpoint, with a client for each of its keys over one pool of connections."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._lock = asyncio.Lock()
        self._library: ModuleType | None = None
        self._http: Any = None
        self._clients: dict[str, Any] = {}

    async def client(self, key: str) -> Any:
        """The library's asynchronous client for this key."""
        async with self._lock:
            if self._library is None:
                self._library = await asyncio.to_thread(importlib.import_module, "openai")
                logging.getLogger("openai").setLevel(logging.WARNING)
            if key not in self._clients:
                self._clients[key] = await asyncio.to_thread(self._made, self._library, key)
        return self._clients[key]

    def _made(self, openai: Any, key: str) -> Any:
        import httpx2

        if self._http is None:
            self._http = httpx2.AsyncClient(
                verify=_tls(urlsplit(self._endpoint.url).scheme),
                timeout=httpx2.Timeout(IDLE_SECONDS, connect=CONNECT_SECONDS),
                limits=httpx2.Limits(max_connections=CONNECTIONS),
                follow_redirects=False,
            )
        shared = {"api_key": key, "http_client": self._http, "max_retries": 0}
        parts = urlsplit(self._endpoint.url)
        version = parse_qs(parts.query).get("api-version")
        base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
        if version is None:
            return openai.AsyncOpenAI(base_url=base, **shared)
        if "/openai" in parts.path:
            return openai.AsyncAzureOpenAI(base_url=base, api_version=version[0], **shared)
        return openai.AsyncAzureOpenAI(
            azure_endpoint=base,
            azure_deployment=self._endpoint.name,
            api_version=version[0],
            **shared,
        )

    async def close(self) -> None:
        """Release connections."""
        if self._http is not None:
            await self._http.aclose()
        self._http, self._clients = None, {}


@functools.cache
def _tls(scheme: str) -> ssl.SSLContext:
    """What servers are verified by; reading the certificates takes a while, so http does not."""
    if scheme == "https":
        return ssl.create_default_context()
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@contextlib.contextmanager
def our_words() -> Iterator[None]:
    """The library's errors as `ModelFailed` or `UnsupportedParameter`. The server's own text
    may quote what was asked, so it is not passed on."""
    import httpx2
    import openai

    try:
        yield
    except openai.APITimeoutError:
        raise ModelFailed(Reason.TIMEOUT, "the model's server fell silent") from None
    except openai.APIConnectionError:
        raise ModelFailed(Reason.UNREACHABLE, "the model's server is away") from None
    except openai.APIStatusError as error:
        raise _by_status(error) from None
    except (openai.APIError, httpx2.HTTPError, httpx2.StreamError):
        raise ModelFailed(Reason.BROKEN, "the model's answer broke off") from None
    except (json.JSONDecodeError, UnicodeDecodeError, openai.OpenAIError):
        raise ModelFailed(Reason.BROKEN, "the model's answer cannot be read") from None


def _by_status(error: Any) -> Exception:
    status, code = error.status_code, str(error.code or "")
    text = f"{error.param} {code} {error.message}".lower()
    said = f"the model's server answered {status}"
    if status == 429 and "insufficient_quota" not in text:
        return ModelFailed(Reason.RATE_LIMITED, said, _retry_after(error.response.headers))
    if status in (401, 402, 403, 429):
        return ModelFailed(Reason.REFUSED, said)
    if status >= 500 and "image input" in text:
        return ModelFailed(Reason.INVALID, f"{said}: it takes no pictures")
    if status >= 500 or status in (408, 409, 425):
        return ModelFailed(Reason.BROKEN, said, _retry_after(error.response.headers))
    if "context_length" in text or "context length" in text or "maximum context" in text:
        return ModelFailed(Reason.TOO_LONG, f"{said}: the text is too long for it")
    if "content_filter" in text or "content_policy" in text:
        return ModelFailed(Reason.FILTERED, f"{said}: its filter refuses the text")
    return UnsupportedParameter(text) if status in (400, 422) else ModelFailed(Reason.INVALID, said)


def _retry_after(headers: Any) -> float | None:
    """Seconds from `Retry-After` (seconds or a date) or `retry-after-ms`; None when absent."""
    with contextlib.suppress(TypeError, ValueError):
        return max(0.0, float(headers.get("retry-after-ms")) / 1000)
    value = headers.get("retry-after")
    with contextlib.suppress(TypeError, ValueError):
        return max(0.0, float(value))
    with contextlib.suppress(TypeError, ValueError):
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    return None
