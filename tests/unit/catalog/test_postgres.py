"""What is said of a Postgres that cannot be reached: what to do, not where it is."""

import psycopg
import pytest
from sqlalchemy import exc

from deploy.local.ports import free_port
from libs.contracts.faults import Code, WorldFault
from libs.runtime.catalog.sql import open_catalog
from libs.runtime.catalog.sql.database import translated

AT = 'connection to server at "10.1.2.3", port 5432 failed: '


async def test_a_server_that_is_not_there_is_a_store_that_is_away() -> None:
    port = free_port()
    catalog = open_catalog(f"postgresql://owner@127.0.0.1:{port}/base", "xyzzy")
    with pytest.raises(WorldFault, match="the connection was refused") as caught:
        await catalog.ping()
    assert caught.value.code is Code.STORE_AWAY
    for word in ("127.0.0.1", str(port), "owner", "xyzzy"):
        assert word not in caught.value.detail
    await catalog.close()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ('FATAL:  password authentication failed for user "owner"', "GROUNDWIRE_CATALOG_PASSWORD"),
        ('FATAL:  database "papers" does not exist', "GROUNDWIRE_CATALOG_URL"),
        ('FATAL:  no pg_hba.conf entry for host "10.1.2.4"', "does not let us in"),
        ("timeout expired", "in time"),
        ("SSL error: certificate verify failed", "certificate is not trusted"),
        ("server closed the connection unexpectedly", "the connection was lost"),
    ],
)
def test_why_it_cannot_be_reached_is_told_without_where(words: str, told: str) -> None:
    error = exc.OperationalError("select 1", None, psycopg.OperationalError(AT + words))
    with pytest.raises(WorldFault, match=told) as caught, translated():
        raise error
    for word in ("10.1.2", "5432", "owner", "papers"):
        assert word not in caught.value.detail
