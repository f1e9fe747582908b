"""`make check-k8s`: every folder rendered, and held against what would receive it.

Built-in kinds go to the API server's own code (`validator/`), the others to the schemas in
their projects' definitions. Needs Go and, the first time, its module proxy.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from deploy.k8s.tools import (
    COMPOSE,
    FOLDERS,
    Lacking,
    built,
    definition_files,
    objects,
    program,
    rendered,
)

DEPLOY = Path(__file__).resolve().parents[1]


def closed(schema: Any) -> Any:
    """A schema that refuses fields which it does not name, as the server does when it is strict."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    open_ended = schema.get("x-kubernetes-preserve-unknown-fields", False)
    if isinstance(schema.get("properties"), dict) and not open_ended:
        made.setdefault("additionalProperties", False)
    if schema.get("x-kubernetes-int-or-string"):
        made.pop("type", None)
    return made


def custom_schemas(files: list[Path]) -> dict[tuple[str, str], Draft202012Validator]:
    """A validator for each kind and version that the definitions serve."""
    found = {}
    for file in files:
        for definition in objects(file.read_text(encoding="utf-8")):
            spec = definition["spec"]
            for version in spec["versions"]:
                schema = closed(version["schema"]["openAPIV3Schema"])
                schema["properties"]["metadata"] = {"type": "object"}
                api = f"{spec['group']}/{version['name']}"
                found[api, spec["names"]["kind"]] = Draft202012Validator(schema)
    return found


def custom_findings(
    found: Sequence[Mapping[str, Any]], schemas: dict[tuple[str, str], Draft202012Validator]
) -> Iterator[str]:
    """What the projects' schemas say of their objects."""
    for each in found:
        schema = schemas[each["apiVersion"], each["kind"]]
        for error in schema.iter_errors(each):
            yield f"{each['kind']} {each['metadata']['name']}: {error.json_path}: {error.message}"


def builtin_findings(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What the API server's validation says."""
    text = "---\n".join(yaml.safe_dump(each, sort_keys=False) for each in found)
    done = subprocess.run(
        [built("validator")], input=text, capture_output=True, text=True, check=False
    )
    yield from (done.stdout + done.stderr).splitlines()
    if done.returncode > 1:
        yield f"the validator ended with {done.returncode}"


def findings(folder: Path, schemas: dict[tuple[str, str], Draft202012Validator]) -> list[str]:
    """Everything that is wrong with what a folder makes."""
    found = objects(rendered(folder))
    custom = [each for each in found if (each["apiVersion"], each["kind"]) in schemas]
    builtin = [each for each in found if each not in custom]
    return [*builtin_findings(builtin), *custom_findings(custom, schemas)]


def compose_findings() -> list[str]:
    """What the specification of compose files says of ours."""
    (schema,) = definition_files([COMPOSE])
    file = DEPLOY / "compose" / "compose.yaml"
    validator = Draft202012Validator(json.loads(schema.read_text(encoding="utf-8")))
    (content,) = objects(file.read_text(encoding="utf-8"))
    return [f"compose: {e.json_path}: {e.message}" for e in validator.iter_errors(content)]


def dockerfiles() -> list[str]:
    """What hadolint says, where it is installed: it is under the GPL, so it is not one of our
    packages."""
    try:
        hadolint = program("hadolint", "")
    except Lacking:
        print("hadolint is not installed, so the Dockerfile is left to the tests")
        return []
    done = subprocess.run(
        [hadolint, "--failure-threshold", "info", str(DEPLOY / "images" / "Dockerfile")],
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stdout + done.stderr).splitlines()


def main() -> int:
    """Print what is wrong; the number to exit with."""
    wrong = dockerfiles()
    try:
        schemas = custom_schemas(definition_files())
        wrong += compose_findings()
        for folder in FOLDERS:
            said = findings(folder, schemas)
            print(f"{folder.name}: {len(said)} findings", flush=True)
            wrong += said
    except (Lacking, ValueError) as error:
        wrong.append(str(error))
    print("\n".join(wrong), file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
