"""`groundwire reprocess`: make documents again that an older engine made."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Annotated, Any

import typer

from libs.client.cli.shared import OPERATING, JsonOption, client, every, print_listing

if TYPE_CHECKING:
    from libs.client.synchronous import Client
    from libs.contracts.artefacts.manifest import Manifest

_CONDITION = re.compile(r"(engine|format|version(?:\.[\w.-]+)?|age)(<=|>=|!=|<|>|=)(.+)")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge,
}  # fmt: skip
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


@dataclass(frozen=True)
class Condition:
    """`field`, how it is compared, and with what: a text, the numbers of a version, an age."""

    field: str
    compare: Callable[[Any, Any], bool]
    value: Any

    @classmethod
    def of(cls, text: str) -> "Condition":
        """`engine=docling`, `version<2.18`, `version.openpyxl<3.2`, `format=pdf`, `age>30d`;
        `ValueError` for anything else."""
        found = _CONDITION.fullmatch(text.replace(" ", ""))
        if found is None:
            raise ValueError(f"{text!r} is no condition: say engine=docling, version<2.18, age>30d")
        name, sign, value = found.groups()
        if name in ("engine", "format") and sign not in ("=", "!="):
            raise ValueError(f"{text!r}: {name} is compared by = and !=")
        if name == "age":
            return cls(name, _COMPARE[sign], _age(value))
        if name.startswith("version"):
            return cls(name, _COMPARE[sign], _version(value))
        return cls(name, _COMPARE[sign], value)

    def holds(self, manifest: "Manifest", made_at: datetime, now: datetime) -> bool:
        """Whether a revision is meant; one whose version is not known never is."""
        if self.field == "age":
            return self.compare(now - made_at, self.value)
        if self.field == "engine":
            return self.compare(manifest.engine, self.value)
        if self.field == "format":
            return self.compare(manifest.source.format, self.value)
        library = self.field.partition(".")[2] or manifest.engine
        version = manifest.versions.get(library)
        return version is not None and self.compare(numbers(version), self.value)


def numbers(version: str) -> tuple[int, ...]:
    """A version's numbers, without zeros at its end: 2.18.0 is 2.18."""
    found = [int(part) for part in re.findall(r"\d+", version)]
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)


def _version(text: str) -> tuple[int, ...]:
    if not re.match(r"v?\d", text):
        raise ValueError(f"{text!r} is no version: say 2.18")
    return numbers(text)


def _age(text: str) -> timedelta:
    found = re.fullmatch(r"(\d+)([dhm])", text)
    if found is None:
        raise ValueError(f"{text!r} is no age: say 30d, 12h or 5m")
    try:
        return timedelta(**{_UNITS[found[2]]: int(found[1])})
    except OverflowError:
        raise ValueError(f"{text!r} is no age: it is too long") from None


def _conditions(texts: list[str]) -> list[Condition]:
    try:
        return [Condition.of(text) for text in texts]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def reprocess(
    context: typer.Context,
    where: Annotated[
        list[str],
        typer.Option(help="engine=…, format=…, version<…, age>30d; all that are given must hold"),
    ],
    engine: Annotated[str | None, typer.Option(help="another engine than before")] = None,
    limit: Annotated[int, typer.Option(min=1, help="at most so many documents")] = 100_000,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say which")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make documents again from their kept sources, as new revisions.

    `version` is that of the engine itself, `version.NAME` of a library that it used, `age` since
    the active revision was published.
    """
    conditions = _conditions(where)
    made: list[dict[str, Any]] = []
    with client(context) as groundwire:
        for document_id, revision in _active(groundwire):
            if len(made) == limit:
                break
            if not _meant(groundwire, document_id, revision, conditions):
                continue
            one = {"document_id": document_id, "of_revision": revision, "job_id": None}
            if not dry_run:
                one["job_id"] = groundwire.reprocess(document_id, engine).job_id
            made.append(one)
    print_listing(
        made,
        {
            "document": lambda one: one["document_id"],
            "revision": lambda one: one["of_revision"],
            "job": lambda one: one["job_id"] or "-",
        },
        as_json=as_json,
        nothing="no document is meant",
    )


def _active(groundwire: "Client") -> list[tuple[str, int]]:
    views = every(lambda cursor, size: groundwire.documents(cursor=cursor, limit=size))
    return [(one.document_id, one.active_revision) for one in views if one.active_revision]


def _meant(
    groundwire: "Client", document_id: str, revision: int, conditions: list[Condition]
) -> bool:
    manifest = groundwire.manifest(document_id, revision)
    revisions = every(
        lambda cursor, size: groundwire.revisions(document_id, cursor=cursor, limit=size)
    )
    made_at = next(
        (one.published_at or one.created_at for one in revisions if one.revision == revision), None
    )
    now = datetime.now(UTC)
    return made_at is not None and all(one.holds(manifest, made_at, now) for one in conditions)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel=OPERATING)(reprocess)
