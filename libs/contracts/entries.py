"""Entries: records of a collection, how a file of them is read, and how they are searched."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from libs.contracts.base import Contract, Request

RecordKind = Literal["entries", "questions"]
EnrichStep = Literal["describe", "context"]
RECORD_FORMAT = "entries"
"""What the format of a document of records is to filters, whatever file it came in."""
MAX_ID = 128
MAX_KEYWORDS = 200
QUICK_QUERIES = 12
Word = Annotated[str, StringConstraints(min_length=1, max_length=128)]


def records_document(kind: RecordKind, collection: str) -> str:
    """The document that holds a collection's entries, or the sample questions for them."""
    return f"{'entries' if kind == 'entries' else 'queries'}-{collection}"


class Enrichment(Contract):
    """What a model wrote about an entry: what it does, the kinds of action, the verbs users say,
    keywords, related concepts, questions that it answers, the text that is embedded (250 to 400
    characters), and a sentence that tells it from its siblings. `inputs` and `told` are hashes
    of what description and sentence were made of; `by` names the models."""

    function_desc: str = ""
    action_types: list[str] = []
    user_verbs: list[str] = []
    keywords: list[str] = []
    related_concepts: list[str] = []
    sample_queries: list[str] = []
    embedding_text: str = ""
    context: str = ""
    inputs: str = ""
    told: str = ""
    by: list[str] = []


class Review(Contract):
    """What reviewers said of an entry: feedback on its description, sample questions that they
    struck out, and such that they added."""

    feedback: str = ""
    struck: list[str] = []
    added: list[str] = []


class Entry(Contract):
    """One record. Of a sample question `id` is the entry that it asks for, `name` the question.

    `path` is where a user finds it, outermost step first; `text` a description; `fields` are
    the columns that have no name here; `image` names its picture inside the revision, such as
    `assets/images/<hash>.png`. `enriched` is a model's work, `review` that of people.
    `deleted` asks for removal and is never published.
    """

    id: str
    name: str
    path: str = ""
    category: str = ""
    keywords: list[str] = []
    search_count: int = 0
    text: str = ""
    fields: dict[str, str] = {}
    image: str = ""
    enriched: Enrichment | None = None
    review: Review | None = None
    deleted: bool = False

    def all_keywords(self) -> list[str]:
        """Its own keywords and those that a model found, each once."""
        more = self.enriched.keywords if self.enriched else []
        return list(dict.fromkeys([*self.keywords, *more]))

    def texts(self) -> list[str]:
        """All that is said of it beside name, path, category and keywords."""
        told = [self.text, *self.fields.values()]
        if self.enriched is not None:
            one = self.enriched
            lists = (one.action_types, one.user_verbs, one.related_concepts)
            told += [one.function_desc, one.embedding_text, *(", ".join(some) for some in lists)]
        return [text for text in told if text]

    def questions(self) -> list[str]:
        """Sample questions that stand: a model's that nobody struck out, and people's."""
        review = self.review or Review()
        made = self.enriched.sample_queries if self.enriched else []
        kept = [question for question in made if question not in review.struck]
        return list(dict.fromkeys([*kept, *review.added]))


def united(old: Entry, new: Entry) -> Entry:
    """The new entry with the keywords of both, and the old values where it states none."""
    apart = {"keywords", "fields", "review", "deleted"}
    names = Entry.model_fields.keys() - apart
    kept = {name: getattr(old, name) for name in names if not getattr(new, name)}
    words = list(dict.fromkeys([*old.keywords, *new.keywords]))[:MAX_KEYWORDS]
    made = new.enriched or old.enriched or Enrichment()
    together = {
        "keywords": words,
        "fields": {**old.fields, **new.fields},
        "review": _reviewed(old.review, new.review, made.sample_queries),
    }
    return new.model_copy(update={**kept, **together})


def _reviewed(old: Review | None, new: Review | None, made: list[str]) -> Review | None:
    """Both reviews: the later feedback, and what was struck or added last. What a model made was
    not added by people."""
    if new is None:
        return old
    old = old or Review()
    added = [q for q in dict.fromkeys([*old.added, *new.added]) if q not in {*new.struck, *made}]
    struck = [q for q in dict.fromkeys([*old.struck, *new.struck]) if q not in new.added]
    return Review(feedback=new.feedback or old.feedback, struck=struck, added=added)


class RecordRules(Request):
    """How a file of records is read. `columns` maps our field to the file's column.

    `visible_only` leaves out records whose column `visible` says no, and hidden rows of
    workbooks. `duplicates` decides between records of one file with one id: `merge` unites
    their keywords, later values win. `mode` merges with what is published or replaces it.
    `on_error` leaves faulty rows out (each is a finding) or refuses the file. `enrich` has models
    describe the entries of the file and tell them from their siblings. `review` says that the
    file is the workbook of a review, edited.
    """

    kind: RecordKind = "entries"
    columns: dict[str, str] = Field(default_factory=dict, max_length=16)
    visible_only: bool = True
    duplicates: Literal["merge", "first", "last", "refuse"] = "merge"
    mode: Literal["merge", "replace"] = "merge"
    on_error: Literal["skip", "refuse"] = "skip"
    enrich: list[EnrichStep] = Field(default_factory=list, max_length=2)
    review: bool = False


class EntryWeights(Request):
    """How the channels are fused. `rank`: the sum of `weight / (rank_constant + rank)`, rank from
    1. `convex`: scores of words and meanings, each scaled to 0…1, those of words times the share
    of the query that the entry holds, mixed by `dense_share`, and the weight of the questions on
    top. A weight of 0 switches its channel off in both.

    `question_floor`, `threshold` and `good_enough` are similarities on the scale users see.
    `popularity` is the most that a popular entry gains. `hyde` searches meanings by an entry that
    a model imagines, `rerank` has the first ten ranked once more, each where a model is configured.
    """

    fusion: Literal["rank", "convex"] = "convex"
    dense_share: float = Field(default=0.25, ge=0, le=1)
    dense: float = Field(default=1.5, ge=0, le=100)
    lexical: float = Field(default=0.5, ge=0, le=100)
    questions: float = Field(default=0.4, ge=0, le=100)
    rank_constant: int = Field(default=60, ge=1, le=10_000)
    question_floor: float = Field(default=0.85, ge=0, le=1)
    popularity: float = Field(default=0.005, ge=0, le=1)
    threshold: float = Field(default=0.3, ge=0, le=1)
    good_enough: float = Field(default=0.55, ge=0, le=1)
    rewrites: int = Field(default=2, ge=0, le=2)
    hyde: bool = False
    rerank: bool = True


class CollectionSettings(Request):
    """What the entries of a collection share: weights, groups of synonyms (they widen the
    lexical channel alone), the words by which a category is known (a query that holds two of
    them is searched in that category), and the queries that a page offers at a click; and of
    its documents how much the dense channel may count beside the lexical ones, 0 to 1. Where
    that is not set, a sample of the collection says it."""

    schema_version: Literal[1] = 1
    weights: EntryWeights = Field(default_factory=EntryWeights)
    synonyms: list[list[Word]] = Field(default_factory=list, max_length=2_000)
    categories: dict[Word, list[Word]] = Field(default_factory=dict, max_length=500)
    quick_queries: list[Word] = Field(default_factory=list, max_length=QUICK_QUERIES)
    most_dense: float | None = Field(default=None, ge=0, le=1)


class CategoryView(Contract):
    """A category and how many entries it has."""

    name: str
    entries: int


class CollectionView(Contract):
    """What is published of a collection. `quick_queries` are those of its settings, else sample
    questions, else names of what is looked for most, of each category in turn."""

    collection: str
    revision: int
    entries: int
    questions: int
    categories: list[CategoryView]
    quick_queries: list[str]
