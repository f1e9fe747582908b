"""Measuring Groundwire: how well it parses, and how well it finds."""
