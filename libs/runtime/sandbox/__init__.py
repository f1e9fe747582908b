"""Untrusted files are read in child processes that can harm nothing but their own attempt.

    service ── Sandbox ── (socket) ── zygote ── child, one per attempt, forked in milliseconds
                  │                                │
                  └── watches memory, time, cancel └── reads job.json, writes out/ and end.json

Linux only: it needs prctl, process groups and /proc. Nothing is imported here, since the
fork server must start fast.
"""
