"""Alembic's environment of the catalog; `HEAD` is its newest revision."""

HEAD = "0004"
