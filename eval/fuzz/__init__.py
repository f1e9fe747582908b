"""Damaged and hostile files, made from real ones by a seed, through profiler and parser."""
