"""What a conversation is about when a question comes: names and documents, newest first. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from libs.contracts.api.search import Turn
from services.planner.conversation.asking import Asked, asked_in, is_request
from services.planner.conversation.mentions import Mention, mentions

REACH = 6
"""Turns that are looked back on."""
MAX_DOCUMENTS = 20


@dataclass(frozen=True)
class Spoken:
    """A name with the number of user turns since it was last spoken of (0: in the last one);
    `asked` says that the user named it, not only an answer."""

    mention: Mention
    age: int
    asked: bool


@dataclass(frozen=True)
class State:
    """`spoken` newest first; `documents` are those of the newest turn that has any. `topic` is
    what the user last asked about these, with the time that was last named, `topic_age` the
    number of user turns since."""

    spoken: tuple[Spoken, ...] = ()
    documents: tuple[str, ...] = ()
    topic: Asked = field(default_factory=Asked)
    topic_age: int = 0

    def newest(self, kind: str | None = None) -> list[Spoken]:
        """The names of the newest turn that has some (of a kind), the user's before an
        answer's: these a question that leaves its subject out can mean."""
        some = [s for s in self.spoken if kind is None or s.mention.kind == kind]
        asked = [s for s in some if s.asked] or some
        return [s for s in asked if s.age == asked[0].age] if asked else []


def state_of(turns: Sequence[Turn]) -> State:
    """The state after these turns, oldest first."""
    spoken: dict[str, Spoken] = {}
    documents: tuple[str, ...] = ()
    topic, topic_age = Asked(), 0
    age = 0
    for turn in reversed(turns[-REACH:]):
        asked = turn.role == "user"
        if not documents and turn.document_ids:
            documents = tuple(dict.fromkeys(turn.document_ids))[:MAX_DOCUMENTS]
        named = mentions(turn.text)
        for mention in named:
            known = spoken.get(mention.key)
            if known is None:
                spoken[mention.key] = Spoken(mention, age, asked)
            elif asked and not known.asked and known.age == age:
                spoken[mention.key] = Spoken(known.mention, age, True)
        if asked and not topic.words and is_request(turn.text):
            said = asked_in(turn.text, named)
            topic, topic_age = Asked(said.words, topic.times or said.times), age
        age += asked
    return State(tuple(spoken.values()), documents, topic, topic_age)
