"""`entries.json`: the records of a collection between the stages that enrich them; `review.json`:
what an edited review changed."""

from typing import Literal

from libs.contracts.base import Contract
from libs.contracts.entries import Entry


class MergedEntries(Contract):
    """All entries that the revision will have; `wanted` are the ids to be enriched. `failed`
    counts by step the entries whose model gave no usable answer, `unseen` those that were
    described without their picture, which the model did not take."""

    schema_version: Literal[1] = 1
    entries: list[Entry]
    wanted: list[str]
    failed: dict[str, int] = {}
    unseen: int = 0


class QuestionChange(Contract):
    """A sample question of an entry that reviewers added or took away."""

    id: str
    question: str


class ReviewReport(Contract):
    """What an edited review changed: questions added and struck out, ids with new keywords, ids
    whose description is to be written anew for their feedback, and ids that are not published."""

    schema_version: Literal[1] = 1
    added: list[QuestionChange] = []
    removed: list[QuestionChange] = []
    keywords: list[str] = []
    feedback: list[str] = []
    unknown: list[str] = []
