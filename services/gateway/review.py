"""The workbook in which business people review the entries of a collection. Pure."""

from collections import defaultdict
from collections.abc import Sequence
from typing import get_args

from libs.contracts.entries import Entry
from libs.contracts.review import (
    HELP_SHEET,
    KEYWORDS_SHEET,
    KEYWORDS_TITLE,
    TITLES,
    WRITERS,
    ReviewColumn,
    ReviewLanguage,
)
from libs.runtime.xlsx import Table, workbook

BLANKS = 2
"""Empty rows behind the questions of an entry, for new ones."""
COLUMNS: tuple[ReviewColumn, ...] = get_args(ReviewColumn)
WIDTHS = (14.0, 26.0, 30.0, 46.0, 46.0, 10.0, 40.0, 10.0)
HELP = (
    (
        "예시 질문을 지우려면 취소선을 긋습니다.",
        "고치려면 그 칸의 글을 바꾸고, 더하려면 빈 줄의 '예시 질문' 칸에 적습니다.",
        "설명이 마음에 들지 않으면 '의견' 칸에 바라는 점을 적습니다. 그 항목만 다시 만듭니다.",
        "'키워드' 시트에 낱말을 쉼표로 더합니다. 있던 낱말은 그대로 남습니다.",
    ),
    (
        "Strike a sample question through to take it away.",
        "Change its text to correct it; write new ones into the empty rows.",
        "Where a description is not good, say what you wish in the column feedback: only these "
        "entries are described anew.",
        "Add words to the sheet keywords, with commas between; what is there stays.",
    ),
)


def review_workbook(entries: Sequence[Entry], by: str, language: ReviewLanguage) -> bytes:
    """A sheet for each group of entries, one for keywords, one that says how to review. `by` is
    `category`, or a free field of the entries, such as a department."""
    at = 0 if language == "ko" else 1
    groups: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        group = entry.category if by == "category" else entry.fields.get(by.casefold(), "")
        groups[group].append(entry)
    tables = [
        Table(
            group or "-",
            [TITLES[column][at] for column in COLUMNS],
            [row for entry in groups[group] for row in _rows(entry, at)],
            WIDTHS,
            frozenset({COLUMNS.index("original")}),
        )
        for group in sorted(groups)
    ]
    words = [[e.id, e.name, ", ".join(e.keywords)] for e in entries]
    heads = [TITLES["id"][at], TITLES["name"][at], KEYWORDS_TITLE[at]]
    tables.append(Table(KEYWORDS_SHEET[at], heads, words, (14.0, 26.0, 80.0)))
    tables.append(Table(HELP_SHEET[at], [HELP_SHEET[at]], [[line] for line in HELP[at]], (100.0,)))
    return workbook(tables)


def _rows(entry: Entry, at: int) -> list[list[str]]:
    """A row for each question that stands, and empty ones; the first says more of the entry."""
    human = set(entry.review.added) if entry.review else set()
    about = entry.enriched.function_desc if entry.enriched else ""
    feedback = entry.review.feedback if entry.review else ""
    questions = [*entry.questions(), *[""] * BLANKS]
    rows = []
    for number, question in enumerate(questions):
        first = number == 0
        writer = WRITERS["human" if question in human else "model"][at] if question else ""
        rows.append(
            [
                entry.id,
                entry.name,
                entry.path if first else "",
                (about or entry.text) if first else "",
                question,
                writer,
                feedback if first else "",
                question,
            ]
        )
    return rows
