"""Trace schema version 1: the record of one run, readable alone."""

from libs.contracts.trace.v1 import AnswerSchema, Attempt, Planner, QueryRewrite, Trace

__all__ = ["AnswerSchema", "Attempt", "Planner", "QueryRewrite", "Trace"]
