"""The documents as a site."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from deploy.local.house import ROOT
from tests.support.waiting import PATIENCE


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder, env=os.environ, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build" / "site"


def test_every_page_is_built_and_named_in_the_navigation(site: Path) -> None:
    for page in (ROOT / "docs").glob("*.md"):
        if page.stem != "index":
            assert (site / page.stem / "index.html").exists()
    nav = yaml.safe_dump(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    assert {p.name for p in (ROOT / "docs").glob("*.md")} <= set(re.findall(r"[\w-]+\.md", nav))


FETCHED = re.compile(
    r"<(?:script|img|iframe)[^>]+src=\"?([^\" >]+)"
    r"|<link[^>]+stylesheet[^>]+href=\"?([^\" >]+)"
)


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        fetched = {url for pair in FETCHED.findall(page.read_text()) for url in pair}
        assert len(fetched) > 1
        assert not [url for url in fetched if "//" in url], page


def test_the_search_of_the_site_finds_korean_and_english_words(site: Path) -> None:
    index = (site / "search.json").read_text()
    assert "지갑을" in index
    assert "nats-server" in index
