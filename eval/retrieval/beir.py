"""Sets in the layout of BEIR, and the SQuAD JSON whose paragraphs are the passages."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eval.retrieval.model import Case, EvalSet, Passage

_HANGUL = re.compile("[가-힣]")


def load_beir(name: str, folder: Path, language: str, group: str | None) -> EvalSet:
    """`corpus.jsonl` (_id, title, text), `queries.jsonl` (_id, text, metadata), `qrels.tsv`.

    Cases are grouped by the field `group` of a query's metadata, without one by how many
    passages are relevant. Queries without a positive judgement are left out.
    """
    grades: dict[str, dict[str, int]] = {}
    with (folder / "qrels.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            grades.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    passages = [
        Passage(str(one["_id"]), one.get("title") or "", one["text"])
        for one in _lines(folder / "corpus.jsonl")
    ]
    cases = [
        Case(
            case_id=str(one["_id"]),
            query=one["text"],
            relevant=relevant,
            language=language_of(one["text"], language),
            group=str(one.get("metadata", {}).get(group) or f"{len(relevant)} relevant"),
        )
        for one in _lines(folder / "queries.jsonl")
        if (relevant := {p: g for p, g in grades.get(str(one["_id"]), {}).items() if g > 0})
    ]
    return EvalSet(name, cases, passages)


def load_squad(name: str, folder: Path, language: str) -> EvalSet:
    """The one SQuAD JSON of a folder; the paragraph of a question is its relevant passage.

    Where `question-ids.txt` lies beside it, only those questions are asked. Equal paragraphs
    are one passage.
    """
    (source,) = sorted(folder.glob("*.json"))
    chosen = folder / "question-ids.txt"
    wanted = set(chosen.read_text("utf-8").split()) if chosen.is_file() else None
    passages: dict[str, Passage] = {}
    cases: list[Case] = []
    for article in json.loads(source.read_text("utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            text = paragraph["context"]
            passage = passages.setdefault(text, Passage(str(len(passages)), article["title"], text))
            cases += (
                Case(
                    case_id=question["id"],
                    query=question["question"],
                    relevant={passage.passage_id: 1},
                    language=language_of(question["question"], language),
                    group="paragraph",
                )
                for question in paragraph["qas"]
                if wanted is None or question["id"] in wanted
            )
    return EvalSet(name, cases, list(passages.values()))


def language_of(query: str, stated: str) -> str:
    """The stated language; of a mixed set, `ko` for a query with Hangul, else `en`."""
    if stated != "mixed":
        return stated
    return "ko" if _HANGUL.search(query) else "en"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)
