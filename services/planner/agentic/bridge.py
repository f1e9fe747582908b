"""Bridging: names in the evidence lead to chunks that hold what the question leaves open.

Scores start from classic search. Each hop takes the best chunks that were not opened yet
and looks for the names they add to the question, beside the question's words they do not
hold. Constants were measured on halves of 2WikiMultihopQA, HotpotQA and MuSiQue. Pure.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from libs.contracts.api.search import RetrievedChunk
from libs.contracts.query.navigate import SectionFound
from libs.contracts.query.probe import Mention, ProbeHit
from libs.runtime.index.tokenizer import tokenize
from libs.runtime.names import NO_NAME, name_key, unknown_names
from services.planner.answered import Key

SEEDS = 3
MENTIONS = 12
CANDIDATES = 20
NAMED = 0.6
TITLED_FLOOR = 0.6
CARRIED = 1.5
SPREAD = 0.3
KEPT_BASE = 0.5
BESIDE, RELATED = 0.6, 0.4
"""Of its seed's score, what a chunk that holds all open words has in a section beside it, and in
a document that the graph joins to it."""


def key_of(chunk: RetrievedChunk | ProbeHit) -> Key:
    """Document and chunk."""
    return chunk.document_id, chunk.chunk_id


@dataclass
class Bridge:
    """The state of one question between hops: what was found, and how well it serves."""

    question: str
    base: dict[Key, float] = field(default_factory=dict)
    scores: dict[Key, float] = field(default_factory=dict)
    via: dict[Key, str] = field(default_factory=dict)
    opened: set[Key] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.key = name_key(self.question)
        said = (t for t in tokenize(self.question) if t not in _FUNCTION_TOKENS)
        self.words = list(dict.fromkeys(said))

    def start(self, found: Iterable[RetrievedChunk]) -> None:
        """The chunks of classic search, best first."""
        for chunk in found:
            self.base[key_of(chunk)] = self.scores[key_of(chunk)] = chunk.score

    def name(self, named: Iterable[ProbeHit]) -> None:
        """Chunks whose title stands in the question are where it begins."""
        for hit in named:
            self._see(hit)
            key = key_of(hit)
            self.scores[key] = max(self.scores[key], hit.base + NAMED)

    def seeds(self) -> list[Key]:
        """The best chunks of all, as far as they were not opened; they now are."""
        best = [key for key in self.ranked()[:SEEDS] if key not in self.opened]
        self.opened.update(best)
        return best

    def ranked(self) -> list[Key]:
        """All that was found, best first; ties in the order of ids."""
        return sorted(self.scores, key=lambda key: (-self.scores[key], key))

    def mentions(self, seed: RetrievedChunk) -> list[Mention]:
        """What to look for next: none when the seed holds all words of the question."""
        text = " . ".join([*seed.path, seed.content])
        held = set(tokenize(text))
        residual = [word for word in self.words if word not in held][:64]
        if not residual:
            return []
        return [
            Mention(name=name, words=residual)
            for name in unknown_names(seed.content, self.key, MENTIONS)
        ]

    def hop(self, found: Sequence[tuple[Key, Mention, list[ProbeHit]]]) -> None:
        """Take in what the mentions of this hop's seeds led to; none of it comes before the
        seed that led to it, so that a question of one hop keeps its order."""
        before = dict(self.scores)
        for seed, mention, hits in found:
            others = [hit for hit in hits if key_of(hit) != seed]
            for hit in others:
                self._see(hit)
                fit = 0.5 * hit.channels.get("dense", 0.0) + 0.5 * hit.covered
                if hit.titled:
                    led = before[seed] * (TITLED_FLOOR + (1 - TITLED_FLOOR) * fit)
                else:
                    spread = 1 + SPREAD * math.log1p(len(others))
                    led = before[seed] * CARRIED * fit / spread
                score = min(KEPT_BASE * hit.base + led, math.nextafter(before[seed], 0.0))
                if score > self.scores[key_of(hit)]:
                    self.scores[key_of(hit)] = score
                    self.via[key_of(hit)] = mention.name

    def around(self, seeds: Sequence[Key], sections: Iterable[SectionFound]) -> None:
        """Take in chunks of sections around the seeds and of related documents: each behind the
        seed that led to it, by how many of the open words it holds, less with every step."""
        before = dict(self.scores)
        for section in sections:
            seed = seeds[section.start]
            share = RELATED if section.via == "graph" else BESIDE
            for hit in section.hits:
                self._see(hit)
                led = before[seed] * share * hit.covered / max(1, section.steps)
                score = min(KEPT_BASE * hit.base + led, math.nextafter(before[seed], 0.0))
                if score > self.scores[key_of(hit)]:
                    self.scores[key_of(hit)] = score
                    self.via[key_of(hit)] = f"{section.via}: {section.title}"

    def open_words(self, held: Iterable[str]) -> list[str]:
        """The question's words that none of these texts holds, as tokens."""
        known = {token for text in held for token in tokenize(text)}
        return [word for word in self.words if word not in known][:64]

    def _see(self, hit: ProbeHit) -> None:
        self.base.setdefault(key_of(hit), hit.base)
        self.scores.setdefault(key_of(hit), self.base[key_of(hit)])


_FUNCTION_TOKENS = frozenset(token for word in NO_NAME for token in tokenize(word))
