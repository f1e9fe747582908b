"""The conversion's parts, each against something written by others."""

import json
import struct
from collections.abc import Sequence

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.runtime.inference.e5_session import (
    _GOLDEN,
    BATCH_TEXTS,
    BATCH_TOKENS,
    check_golden,
    plan_batches,
)
from libs.runtime.inference.e5_weights import dequantise
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.onnx_writer import FLOAT, GraphWriter
from libs.runtime.inference.port import Vectors
from libs.runtime.inference.protobuf import field, varint


@given(st.lists(st.integers(1, 512), max_size=300))
def test_batches_hold_every_text_once_within_bounds(lengths: list[int]) -> None:
    batches = plan_batches(lengths)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[index] for index in batch)
        assert len(batch) <= BATCH_TEXTS
        assert len(batch) == 1 or len(batch) * longest <= BATCH_TOKENS


def test_one_block_of_four_bits() -> None:
    # weight j in the low half of byte j, weight j + 16 in the high half; (nibble - 8) * scale
    packed = bytes((j % 16) | ((15 - j % 16) << 4) for j in range(16))
    block = struct.pack("<e", 0.5) + packed
    expected = [(j - 8) * 0.5 for j in range(16)] + [(7 - j) * 0.5 for j in range(16)]
    assert dequantise(memoryview(block)).tolist() == [expected]
    assert dequantise(np.frombuffer(block * 3, np.uint8)).shape == (3, 32)


@given(st.integers(-(2**63), 2**63 - 1))
def test_varints_are_protobufs_own(value: int) -> None:
    from google.protobuf.wrappers_pb2 import Int64Value

    assert Int64Value.FromString(varint(1 << 3) + varint(value)).value == value


def test_fields_are_protobufs_own() -> None:
    from google.protobuf.wrappers_pb2 import BytesValue, FloatValue, StringValue

    assert FloatValue.FromString(field(1, -2.5)).value == -2.5
    assert StringValue.FromString(field(1, "한글" * 100)).value == "한글" * 100
    assert BytesValue.FromString(field(1, b"\x00" * 300)).value == b"\x00" * 300


def test_onnxruntime_runs_what_the_writer_writes() -> None:
    graph = GraphWriter("linear")
    weights = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    graph.constant("w", weights)
    graph.constant("half", np.array(0.5, np.float32))
    graph.node("MatMul", ["x", "w"], "product")
    graph.node("LeakyRelu", ["product"], "leaky", alpha=0.25)
    graph.node("Mul", ["leaky", "half"], "y")
    graph.input("x", FLOAT, "N", 3)
    graph.output("y", FLOAT, "N", 2)
    session = onnxruntime.InferenceSession(graph.model(), providers=["CPUExecutionProvider"])
    x = np.array([[1, 0, 0], [-1, -1, 0]], np.float32)
    (y,) = session.run(None, {"x": x})
    assert y.tolist() == [[0.5, 1.0], [-0.5, -0.75]]


class SkewedSession:
    """Gives the stored vectors, each turned by `skew` towards one axis."""

    def __init__(self, skew: float) -> None:
        self.skew = skew

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [[n] for n, _ in enumerate(texts)]

    def vectors(self, batch: Sequence[Sequence[int]]) -> Vectors:
        vectors = np.array(list(json.loads(_GOLDEN.read_bytes()).values()), np.float32)
        vectors[-1, 0] += self.skew
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_other_vectors_than_the_stored_ones_are_refused() -> None:
    check_golden(SkewedSession(0.01))
    with pytest.raises(ModelUnavailable, match="computes other vectors"):
        check_golden(SkewedSession(0.2))
