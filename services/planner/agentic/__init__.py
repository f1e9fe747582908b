"""Agentic mode: a plan of retrieval steps under one budget, and what each step found."""
