"""Strings that do not come out, and why a user would accept that.

By file (set and path), then by string; `*` stands for all strings of the file.
"""

EXPLAINED: dict[str, dict[str, str]] = {}
