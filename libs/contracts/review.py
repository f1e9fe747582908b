"""The workbook of a review: its sheets and columns, in both languages.

Who writes it and who reads it back agree on nothing else: a column is known by its title, and a
question by the original that its row carries in a hidden column.
"""

from typing import Literal

ReviewLanguage = Literal["ko", "en"]
ReviewColumn = Literal["id", "name", "path", "about", "question", "by", "feedback", "original"]
TITLES: dict[ReviewColumn, tuple[str, str]] = {
    "id": ("아이디", "id"),
    "name": ("이름", "name"),
    "path": ("경로", "path"),
    "about": ("설명", "description"),
    "question": ("예시 질문", "sample question"),
    "by": ("작성", "written by"),
    "feedback": ("의견", "feedback"),
    "original": ("원래 질문", "original question"),
}
KEYWORDS_TITLE = ("키워드", "keywords")
KEYWORDS_SHEET = ("키워드", "keywords")
HELP_SHEET = ("안내", "how to")
WRITERS = {"model": ("모델", "model"), "human": ("사람", "human")}
REVIEW_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def column_of(title: str) -> ReviewColumn | None:
    """The column that a title names, in either language."""
    folded = " ".join(title.split()).casefold()
    return next((name for name, titles in TITLES.items() if folded in titles), None)
