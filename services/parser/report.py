"""What one shard left behind beside its rows: stored with them, read by the join."""

from typing import Literal

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.base import Contract
from libs.contracts.events.base import ArtefactRef


class ShardReport(Contract):
    """`rows/<n>.json`. `assets` maps names inside the revision to stored objects."""

    schema_version: Literal[1] = 1
    engine: str
    versions: dict[str, str] = {}
    row_count: int
    findings: list[Finding] = []
    assets: dict[str, ArtefactRef] = {}
