"""The Python packages of an image as a bill of materials, CycloneDX 1.6."""

from importlib import metadata
from pathlib import Path
from typing import Any

from deploy.images.roles import canonical, installed_with, requirements
from deploy.local.generated.licences import licences

SCHEMA = "http://cyclonedx.org/schema/bom-1.6.schema.json"


def bill(root: Path, role: str) -> dict[str, Any]:
    """The bill of a role's packages, as they are installed here; what the operating system adds
    is the builder's to tell (`docker buildx build --sbom=true`)."""
    stated = {canonical(name): licence for name, (_, licence) in licences(root).items()}
    project = metadata.metadata("groundwire")
    return {
        "$schema": SCHEMA,
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "container",
                "name": f"groundwire/{role}",
                "version": project["Version"],
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [
            {
                "type": "library",
                "bom-ref": (ref := f"pkg:pypi/{name}@{metadata.version(name)}"),
                "name": name,
                "version": metadata.version(name),
                "purl": ref,
                "licenses": [{"license": {"name": stated.get(name, "not stated")}}],
            }
            for name in sorted(installed_with(requirements(root, role)))
        ],
    }
