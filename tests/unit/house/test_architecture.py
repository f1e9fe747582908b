"""What the architecture page says is done somewhere is done there."""

import ast
import re

import pytest

from deploy.local.house import ROOT

PAGE = ROOT / "docs" / "architecture.md"
_FILE = re.compile(r"`([\w/]+\.py)`((?: `\w+`,?)+)")

PLACES = [
    (match[1], name)
    for line in PAGE.read_text().splitlines()
    if line.startswith("| ")
    for match in _FILE.finditer(line)
    for name in re.findall(r"`(\w+)`", match[2])
]


def test_the_page_names_places() -> None:
    assert len(PLACES) > 20


@pytest.mark.parametrize(("file", "name"), PLACES)
def test_the_name_is_defined_in_its_file(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text())
    defined = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    assert name in defined
