"""What the gateway's handlers and routes are given; made once, in `app.py`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from libs.contracts.events.base import now
from libs.runtime.bus import Bus
from libs.runtime.objects.port import ObjectStore
from libs.runtime.probes import Check
from libs.runtime.stores import Stores
from services.gateway.news import News
from services.gateway.secret import install_secret
from services.gateway.settings import Settings
from services.gateway.window import Window


@dataclass(frozen=True)
class Deps:
    """`inbox` holds what upstream systems drop; `clock` tells the time in UTC; `checks` are
    the conditions of readiness by name; `news` wakes those who watch a job; `window` says how
    much of a namespace may stand before the parser."""

    bus: Bus
    stores: Stores
    settings: Settings
    inbox: ObjectStore
    clock: Callable[[], datetime] = now
    checks: Mapping[str, Check] = field(default_factory=dict)
    news: News = field(default_factory=News)
    window: Window = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "window", Window(self.settings.ready_shards))

    def upload_secret(self) -> bytes:
        """What upload links are signed with: a setting, or a file of this install."""
        given = self.settings.upload_secret
        if given is not None:
            return given.get_secret_value().encode()
        return install_secret(self.settings.data_dir)
