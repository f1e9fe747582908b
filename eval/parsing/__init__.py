"""Measuring the parser: metrics, sets, engines, and the report."""
