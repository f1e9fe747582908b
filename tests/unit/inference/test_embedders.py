"""Embedders beside `e5`: the second packaged one, sentence-transformers, an endpoint."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import orjson
import pytest
from pydantic import SecretStr

from libs.runtime.inference import use
from libs.runtime.inference.e5_cache import MODEL
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.factory import open_embedder
from libs.runtime.inference.remote import EndpointEmbedder
from libs.runtime.inference.sentence import SentenceEmbedder
from libs.runtime.inference.use import UseEmbedder
from libs.runtime.models.failure import ModelFailed, Reason
from libs.runtime.models.settings import Endpoint
from libs.runtime.settings import Settings
from services.retriever.similarity import PLAIN, calibration_of
from tests.support.models import DIMENSION, FakeModels, Status, vector

GOLDEN = (0.04692318, 0.05336722, 0.03161874, 0.0421891, -0.06381613, 0.0581147)
ODD = ["", " ", "😀", "\x00x", "안녕하세요 세계"]


def settings(**given: Any) -> Settings:
    return Settings(_env_file=None, **given)


async def test_the_packaged_use_has_its_vectors() -> None:
    embedder = UseEmbedder()
    query = await embedder.embed_query("how much protein per day")
    assert query[:6] == pytest.approx(GOLDEN, abs=1e-4)
    passages = await embedder.embed_passages(["how much protein per day", *ODD])
    assert passages.shape == (1 + len(ODD), embedder.dimension)
    assert np.linalg.norm(passages, axis=1) == pytest.approx(1.0, abs=1e-4)
    assert passages[0] == pytest.approx(query, abs=1e-4), "alone or beside others"
    assert (await embedder.embed_passages([])).shape == (0, 512)
    await embedder.close()


async def test_another_version_of_its_package_is_another_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(use, "VERSION", "9.9")
    embedder = UseEmbedder()
    with pytest.raises(ModelUnavailable, match="pip install fast-universal"):
        await embedder.embed_query("x")
    await embedder.close()


def test_the_factory_knows_them_all(tmp_path: Path) -> None:
    assert isinstance(open_embedder(settings(embedder="use")), UseEmbedder)
    with pytest.raises(ValueError, match="EMBEDDER_FOLDER"):
        open_embedder(settings(embedder="sentence-transformers"))
    with pytest.raises(ValueError, match="EMBEDDER_DIMENSION"):
        open_embedder(settings(embedder="openai"))
    endpoint = Endpoint(url="http://127.0.0.1:1/v1", name="bge-m3")
    given = settings(embedder="openai", embedder_dimension=8, model_embed=endpoint)
    remote, other = (
        open_embedder(given),
        open_embedder(given.model_copy(update={"embedder_dimension": 9})),
    )
    assert remote is not None and other is not None
    assert remote.model != other.model
    with pytest.raises(ModelUnavailable, match="no model"):
        open_embedder(settings(embedder="sentence-transformers", embedder_folder=tmp_path))


def remote(server: FakeModels, dimension: int = DIMENSION) -> EndpointEmbedder:
    endpoint = Endpoint(url=server.url, name="m", keys=SecretStr("key-a"))
    return EndpointEmbedder(endpoint, dimension)


async def test_an_endpoint_embeds_in_batches_and_in_order(server: FakeModels) -> None:
    embedder = remote(server)
    texts = [f"text {n} of words{n}" for n in range(70)]
    made = await embedder.embed_passages(texts)
    assert [len(asked.body["input"]) for asked in server.asked] == [64, 6]
    expected = np.stack([vector(t) for t in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert made == pytest.approx(expected, abs=1e-6)
    assert await embedder.embed_query(texts[3]) == pytest.approx(made[3], abs=1e-6)
    await embedder.close()


async def test_long_texts_are_sent_apart(server: FakeModels) -> None:
    embedder = remote(server)
    await embedder.embed_passages(["long words " * 4000, "long words " * 4000, ""])
    assert [len(asked.body["input"]) for asked in server.asked] == [1, 2]
    assert server.asked[1].body["input"][1] == " "
    await embedder.close()


async def test_an_endpoint_that_fails_leaves_queries_to_words(server: FakeModels) -> None:
    embedder = remote(server)
    server.otherwise = Status(401)
    with pytest.raises(ModelUnavailable):
        await embedder.embed_query("x")
    with pytest.raises(ModelFailed) as failed:
        await embedder.embed_passages(["x"])
    assert failed.value.reason is Reason.REFUSED
    await embedder.close()


async def test_vectors_of_another_length_are_refused(server: FakeModels) -> None:
    embedder = remote(server, dimension=8)
    with pytest.raises(ModelFailed) as failed:
        await embedder.embed_passages(["x"])
    assert failed.value.reason is Reason.INVALID
    await embedder.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as `SentenceTransformer.save` writes it, with 3 numbers to a vector."""
    (tmp_path / "1_Pooling").mkdir()
    modules = [{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Normalize"}]
    (tmp_path / "modules.json").write_bytes(orjson.dumps(modules))
    (tmp_path / "config.json").write_bytes(orjson.dumps({"hidden_size": 3}))
    pooling = {"word_embedding_dimension": 3}
    (tmp_path / "1_Pooling" / "config.json").write_bytes(orjson.dumps(pooling))
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    return tmp_path


class Transformer:
    def __init__(self, folder: str, device: str) -> None:
        assert (Path(folder) / "modules.json").exists()
        assert device == "cpu"

    def encode_query(self, texts: list[str], **_: Any) -> np.ndarray:
        return np.array([[len(t), 1.0, 1.0] for t in texts])

    def encode_document(self, texts: list[str], **_: Any) -> np.ndarray:
        return np.array([[len(t), 2.0, 2.0] for t in texts])


async def test_sentence_transformers_embeds_from_a_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = ModuleType("sentence_transformers")
    library.SentenceTransformer = Transformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    embedder = SentenceEmbedder(folder)
    assert embedder.dimension == 3
    passages = await embedder.embed_passages([f"{'x' * n}" for n in range(40)])
    assert passages[5] == pytest.approx(np.array([5, 2, 2]) / np.sqrt(33), abs=1e-6)
    query = await embedder.embed_query("xxxxx")
    assert query == pytest.approx(np.array([5, 1, 1]) / np.sqrt(27), abs=1e-6)
    await embedder.close()
    known = embedder.model
    (folder / "model.safetensors").write_bytes(b"weightz")
    assert SentenceEmbedder(folder).model != known, "other weights are another model"


async def test_without_the_library_it_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedder = SentenceEmbedder(folder)
    with pytest.raises(ModelUnavailable, match=r"groundwire\[models\]"):
        await embedder.embed_query("x")
    await embedder.close()


def test_packaged_embedders_have_a_scale_of_similarity() -> None:
    for model in (MODEL, UseEmbedder.model):
        assert calibration_of(model) is not PLAIN
