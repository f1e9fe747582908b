"""What a hop may change in the order of what was found."""

from libs.contracts.query.probe import Mention, ProbeHit
from services.planner.agentic.bridge import Bridge

SEED, OTHER = ("d", "seed"), ("d", "other")


def hit(chunk_id: str, base: float) -> ProbeHit:
    return ProbeHit(
        document_id="d", revision=1, chunk_id=chunk_id, base=base, covered=1.0, titled=True,
        channels={"dense": 1.0},
    )  # fmt: skip


def test_what_a_seed_leads_to_rises_to_right_behind_it() -> None:
    bridge = Bridge("where was the founder of Acme born?")
    middle = {("d", f"m{n}"): 0.5 for n in range(3)}
    bridge.base.update({SEED: 0.9, OTHER: 0.4, **middle})
    bridge.scores.update(bridge.base)
    mention = Mention(name="jane doe", words=["born"])
    bridge.hop([(SEED, mention, [hit("other", 0.4), hit("new", 0.8)])])
    assert bridge.ranked()[0] == SEED
    assert set(bridge.ranked()[1:3]) == {OTHER, ("d", "new")}
    assert bridge.scores[OTHER] < bridge.scores[SEED]
    assert bridge.via[OTHER] == "jane doe"
