"""Namespaces and API keys in SQL."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, insert, or_, select, update

from libs.contracts.events.base import now
from libs.contracts.faults import CallerFault, Code
from libs.runtime.catalog.keys import KeyRecord
from libs.runtime.catalog.sql.database import Database, upsert
from libs.runtime.catalog.sql.schema import api_key, namespace

_LIVE = select(api_key).where(
    api_key.c.secret_hash == bindparam("secret_hash"),
    or_(api_key.c.revoked_at.is_(None), api_key.c.revoked_at > bindparam("moment")),
)


def ensure_namespace(connection: Connection, name: str) -> bool:
    """Make the namespace; False when it was there."""
    made = connection.execute(
        upsert(namespace)
        .values(name=name, corpus_version=0, created_at=now())
        .on_conflict_do_nothing()
    )
    return made.rowcount == 1


def _record(row: Row[Any]) -> KeyRecord:
    return KeyRecord(
        key_id=row.key_id,
        namespace=row.namespace,
        role=row.role,
        label=row.label,
        secret_hash=row.secret_hash,
        created_at=row.created_at,
        revoked_at=row.revoked_at,
    )


def _list_namespaces(connection: Connection) -> list[str]:
    return list(connection.execute(select(namespace.c.name).order_by(namespace.c.name)).scalars())


def _pause(connection: Connection, name: str, paused: bool) -> bool:
    since = func.coalesce(namespace.c.paused_at, now()) if paused else None
    changed = connection.execute(
        update(namespace).where(namespace.c.name == name).values(paused_at=since)
    )
    return changed.rowcount == 1


def _paused(connection: Connection) -> dict[str, datetime]:
    held = select(namespace.c.name, namespace.c.paused_at).where(namespace.c.paused_at.is_not(None))
    return {row.name: row.paused_at for row in connection.execute(held.order_by(namespace.c.name))}


def _add_key(connection: Connection, record: KeyRecord) -> None:
    clash = (api_key.c.key_id == record.key_id) | (api_key.c.secret_hash == record.secret_hash)
    stored = connection.execute(select(api_key).where(clash)).first()
    if stored is not None:
        if (stored.key_id, stored.secret_hash) == (record.key_id, record.secret_hash):
            return
        raise CallerFault(Code.CONFLICT, f"the key {record.key_id} exists with another secret", 409)
    ensure_namespace(connection, record.namespace)
    connection.execute(
        insert(api_key).values(
            key_id=record.key_id,
            namespace=record.namespace,
            role=record.role,
            label=record.label,
            secret_hash=record.secret_hash,
            created_at=record.created_at,
            revoked_at=record.revoked_at,
        )
    )


def _find_key(connection: Connection, secret_hash: str) -> KeyRecord | None:
    row = connection.execute(_LIVE, {"secret_hash": secret_hash, "moment": now()}).first()
    return None if row is None else _record(row)


def _select_keys(connection: Connection, within: str | None) -> list[KeyRecord]:
    query = select(api_key).order_by(api_key.c.created_at, api_key.c.key_id)
    if within is not None:
        query = query.where(api_key.c.namespace == within)
    return [_record(row) for row in connection.execute(query)]


def _revoke_key(connection: Connection, key_id: str, at: datetime | None) -> bool:
    moment = at or now()
    ended = connection.execute(
        update(api_key)
        .where(
            api_key.c.key_id == key_id,
            or_(api_key.c.revoked_at.is_(None), api_key.c.revoked_at > moment),
        )
        .values(revoked_at=moment)
    )
    return ended.rowcount == 1


class SqlKeys:
    """The `KeyStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create_namespace(self, namespace: str) -> bool:
        """See the port."""
        return await self._database.write(ensure_namespace, namespace)

    async def list_namespaces(self) -> list[str]:
        """See the port."""
        return await self._database.read_once(_list_namespaces)

    async def pause(self, namespace: str, paused: bool) -> bool:
        """See the port."""
        return await self._database.write(_pause, namespace, paused)

    async def paused(self) -> dict[str, datetime]:
        """See the port."""
        return await self._database.read_once(_paused)

    async def add(self, record: KeyRecord) -> None:
        """See the port; another key's id or secret raises `CallerFault(CONFLICT, 409)`."""
        await self._database.write(_add_key, record)

    async def find(self, secret_hash: str) -> KeyRecord | None:
        """See the port."""
        return await self._database.look_up(_find_key, secret_hash)

    async def select(self, namespace: str | None) -> list[KeyRecord]:
        """See the port."""
        return await self._database.read(_select_keys, namespace)

    async def revoke(self, key_id: str, at: datetime | None = None) -> bool:
        """See the port."""
        return await self._database.write(_revoke_key, key_id, at)
