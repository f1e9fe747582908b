"""The model's tokeniser: its vocabulary as a SentencePiece model, and its own normaliser."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from libs.runtime.inference.e5_package import BOS, EOS, MAX_TOKENS, PAD, UNKNOWN
from libs.runtime.inference.protobuf import field

# sentencepiece_model.proto: ModelProto.SentencePiece.Type and TrainerSpec.ModelType
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
_UNIGRAM = 1

_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def sentencepiece_model(pieces: Sequence[tuple[str, float]]) -> bytes:
    """The vocabulary as a serialised SentencePiece `ModelProto`.

    The library's own normaliser is off (`identity`) but for white space: the model's
    works by code point and runs before.
    """
    special = {BOS: _CONTROL, PAD: _CONTROL, EOS: _CONTROL, UNKNOWN: _UNKNOWN}
    out = bytearray()
    for i, (piece, score) in enumerate(pieces):
        kind = special.get(i, _NORMAL)
        out += field(1, field(1, piece) + field(2, score) + field(3, kind))
    ids = field(40, UNKNOWN) + field(41, BOS) + field(42, EOS) + field(43, PAD)
    out += field(2, field(3, _UNIGRAM) + ids)
    dummy_prefix, collapse_spaces, escape_spaces = field(3, 1), field(4, 1), field(5, 1)
    out += field(3, field(1, "identity") + dummy_prefix + collapse_spaces + escape_spaces)
    return bytes(out)


class Tokenizer:
    """Text to piece ids. Stateless after construction and safe to share between threads."""

    def __init__(self, model_file: Path, normaliser: dict[int, str]) -> None:
        import sentencepiece

        self._normaliser = normaliser | _SURROGATES
        self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(model_file))

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """The pieces of each text, without special tokens, however many they are.

        NFC comes first, because the normaliser knows no decomposed Hangul.
        """
        normal = [unicodedata.normalize("NFC", t).translate(self._normaliser) for t in texts]
        ids: list[list[int]] = self._pieces.encode(normal, out_type=int, num_threads=1)
        return ids

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """What the model reads: each text between its special tokens, cut at `MAX_TOKENS`."""
        return [[BOS, *pieces[: MAX_TOKENS - 2], EOS] for pieces in self.pieces(texts)]
