"""The table of the audit log, and the triggers that refuse to change or remove a row of it."""

from sqlalchemy import DDL, Column, Index, String, Table, Text, event

from libs.runtime.catalog.sql.schema import metadata
from libs.runtime.catalog.sql.types import UtcDateTime

audit = Table(
    "audit",
    metadata,
    Column("audit_id", String, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Column("key_id", String, nullable=False),
    Column("role", String, nullable=False),
    Column("namespace", String),
    Column("action", String, nullable=False),
    Column("target", String, nullable=False),
    Column("detail", Text, nullable=False),
    Column("reason", Text),
    Column("trace_id", String),
    Index(None, "namespace", "audit_id"),
)

APPEND_ONLY = {
    "sqlite": [
        f"CREATE TRIGGER audit_{what} BEFORE {what.upper()} ON audit "
        "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"
        for what in ("update", "delete")
    ],
    "postgresql": [
        "CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$",
        "CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only()",
    ],
}
"""By dialect."""

for _dialect, _statements in APPEND_ONLY.items():
    for _statement in _statements:
        _trigger = DDL(_statement)  # type: ignore[no-untyped-call]
        event.listen(audit, "after_create", _trigger.execute_if(dialect=_dialect))
