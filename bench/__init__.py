"""Benchmarks: each bar is a ratio within one run, both sides printed."""
