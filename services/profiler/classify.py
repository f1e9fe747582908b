"""What a document is (a report, a law, a manual), by a language model where one is configured.

The set of kinds is open, the form of the answer is not: one short lower-case word or two. How a
document is read never depends on it.
"""

import re
from dataclasses import dataclass

from pydantic import BaseModel

from libs.contracts.artefacts.profile import Profile
from libs.contracts.events.base import JobEvent
from libs.runtime.models.budget import Budget
from libs.runtime.models.factory import open_model
from libs.runtime.models.helper import DATA_ONLY, Helper, quoted
from libs.runtime.models.port import Model
from libs.runtime.models.use import ModelUse
from libs.runtime.objects.port import ObjectStore
from libs.runtime.work import Work
from services.profiler.settings import Settings

ANSWER_TOKENS = 60
CALLS = 2
LONGEST = 40
SHORTEST = 80
"""Characters of text that say something of a document."""
_KIND = re.compile(r"[a-z][a-z0-9]*(?:[ _-][a-z0-9]+){0,2}")

SYSTEM = (
    "You name the kind of a document by its beginning, in one or two lower-case English words: "
    "report, law, regulation, contract, manual, paper, minutes, form, letter, invoice, notice, "
    "plan, guideline, news, presentation, table, book, or whatever fits better. " + DATA_ONLY
)


class KindAnswer(BaseModel):
    """The kind."""

    kind: str


@dataclass(frozen=True)
class Classifier:
    """The model of the use, None where none is configured."""

    objects: ObjectStore
    model: Model | None

    async def classified(
        self, event: JobEvent, profile: Profile, sample: str, work: Work
    ) -> Profile:
        """The profile with its semantic kind, also as the inferred `document_type`; without
        where the model gives none, which its findings say."""
        if self.model is None or profile.records is not None or len(sample) < SHORTEST:
            return profile
        budget = Budget(calls=CALLS)
        helper = Helper(ModelUse.CLASSIFY, self.model, self.objects, event, work, budget)
        user = f"The file is called {quoted(profile.file_name)} and begins:\n{quoted(sample)}"
        answer = await helper.json(SYSTEM, user, KindAnswer, max_tokens=ANSWER_TOKENS)
        kind = None if answer is None else kind_of(answer.kind)
        if answer is not None and kind is None:
            helper.refuse()
        if kind is None:
            return profile.model_copy(update={"findings": helper.findings()})
        inferred = {**profile.inferred, "document_type": kind}
        return profile.model_copy(update={"semantic_kind": kind, "inferred": inferred})

    async def close(self) -> None:
        """Release connections."""
        if self.model is not None:
            await self.model.close()


def classifier_of(objects: ObjectStore, settings: Settings) -> Classifier:
    """The classifier that the settings name."""
    return Classifier(objects, open_model(ModelUse.CLASSIFY, settings))


def kind_of(said: str) -> str | None:
    """An answer as a kind; None for what is no short word or two."""
    kind = " ".join(said.split()).strip(" .").lower()
    if len(kind) > LONGEST or not _KIND.fullmatch(kind):
        return None
    return re.sub(r"[ -]", "_", kind)
