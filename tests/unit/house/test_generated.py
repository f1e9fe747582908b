"""Files that are derived from code say what the code says."""

import ast
import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest

from deploy.local import generate
from deploy.local.generated import asyncapi, cluster, environment, snippets
from deploy.local.generated.client import MODULES
from deploy.local.house import ROOT
from libs.contracts.subjects import CONSUMERS, STREAMS, SUBJECTS, Stage


def test_nothing_has_drifted() -> None:
    assert list(map(str, generate.differing())) == [], "run `make fix`"


def copied(folder: Path) -> Path:
    """A copy of what is generated and of what it is generated from."""
    for name in (
        "docs",
        "libs/client",
        *(f"deploy/{n}" for n in ("nats", "k8s", "telemetry", "images")),
    ):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("constraints.txt", "pyproject.toml", ".env.example"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return copied(tmp_path)


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> set[Path]:
    """What differs in a copy that nobody changed."""
    return set(generate.differing(copied(tmp_path_factory.mktemp("before"))))


@pytest.mark.parametrize(
    ("changed", "drifted"),
    [
        ("docs/subjects.md", "docs/subjects.md"),
        ("docs/snippets/ask.py", "docs/agents.md"),
        *((str(source), str(target)) for source, target in MODULES.items()),
        (".env.example", ".env.example"),
        ("deploy/nats/permissions.json", "deploy/nats/permissions.json"),
        ("deploy/telemetry/rules.yaml", "deploy/telemetry/rules.yaml"),
        (str(cluster.POLICIES), str(cluster.POLICIES)),
    ],
)
def test_a_drift_is_noticed(copy: Path, before: set[Path], changed: str, drifted: str) -> None:
    with (copy / changed).open("a") as file:
        file.write("\n# changed\n")
    assert set(generate.differing(copy)) - before == {Path(drifted)}


def test_a_missing_file_is_noticed(copy: Path) -> None:
    (copy / "docs" / "asyncapi.json").unlink()
    assert Path("docs/asyncapi.json") in generate.differing(copy)


def test_the_page_of_the_bus_names_everything_in_the_catalogue() -> None:
    page = (ROOT / "docs" / "subjects.md").read_text()
    for subject in SUBJECTS:
        assert f"`{subject.pattern}`" in page
    for entry in (*STREAMS, *(c for c in CONSUMERS)):
        name = getattr(entry, "durable", None) or entry.name
        assert f"\n| {name} |" in page


def test_every_reference_in_the_asyncapi_document_leads_somewhere() -> None:
    document = json.loads(asyncapi.render(ROOT)[asyncapi.TARGET])
    references = re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(document))
    assert len(references) > 100
    for reference in set(references):
        place = document
        for part in reference.split("/"):
            place = place[part]
    assert len(document["channels"]) == len(SUBJECTS)


def test_every_setting_of_every_service_is_listed() -> None:
    listed = (ROOT / ".env.example").read_text()
    for stage in Stage:
        for name in environment.variables_of(environment.settings_of(stage)):
            assert f"# {name}=" in listed
    assert not [line for line in listed.splitlines() if line and not line.startswith("#")]


def test_every_setting_says_what_it_is_for() -> None:
    for stage in Stage:
        for name, field in environment.settings_of(stage).model_fields.items():
            assert field.description, f"{stage}: {name}"


def test_every_snippet_stands_in_a_page_and_every_block_of_python_is_a_snippet() -> None:
    pages = "".join((ROOT / page).read_text() for page in snippets.PAGES)
    for snippet in (ROOT / snippets.SNIPPETS).iterdir():
        assert snippet.read_text() in pages, snippet.name
    blocks = re.findall(r"^```python\n(.*?)^```", pages, re.DOTALL | re.MULTILINE)
    assert len(blocks) == pages.count("<!-- snippet: ") - pages.count(".sh -->")
    for block in blocks:
        ast.parse(block)


def test_links_between_the_documents_lead_to_files() -> None:
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_picture_of_the_architecture_is_drawn_from_its_source() -> None:
    pictures = ROOT / "docs" / "pictures"
    source = hashlib.sha256((pictures / "architecture.mmd").read_bytes()).hexdigest()
    assert f"sha256 {source}" in (pictures / "architecture.svg").read_text(), "draw it again"
