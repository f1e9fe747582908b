"""The encoder of multilingual-e5-small as an int8 ONNX graph.

A BERT encoder (12 layers, width 384, 12 heads), then the mean over the text's tokens and
unit length. Inputs are word embeddings `x` (batch, tokens, 384) and `mask` (batch,
tokens), so the 4-bit word table, two thirds of the package, need not be converted.

Both sides of every matrix product are int8. Activations carry one scale a token, not one
a batch, so a text's vector does not depend on what it is batched with. Weights lie in
±63: without VNNI, AVX2 adds two u8 × s8 products in 16 bits, and 255 × 63 × 2 fits.
The fused operators of `com.microsoft` exist in ONNX Runtime alone.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from libs.runtime.inference.e5_package import FEED_FORWARD, HEADS, HIDDEN, LAYERS
from libs.runtime.inference.e5_weights import dequantise, vector
from libs.runtime.inference.onnx_writer import FLOAT, INT32, MICROSOFT, UINT8, GraphWriter

_WEIGHT_LIMIT = 63
_LAYER_NORM_EPSILON = 1e-12

Tensors = Mapping[str, memoryview]


def encoder_model(tensors: Tensors) -> bytes:
    """The serialised model for the package's `tensors`."""
    return _Encoder(tensors).model()


class _Encoder:
    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors
        self._graph = GraphWriter("e5")

    def model(self) -> bytes:
        self._constants()
        hidden = self._embeddings()
        for layer in range(LAYERS):
            hidden = self._layer(hidden, layer)
        self._pool(hidden)
        graph = self._graph
        graph.input("x", FLOAT, "B", "S", HIDDEN)
        graph.input("mask", INT32, "B", "S")
        graph.output("vec", FLOAT, "B", HIDDEN)
        return graph.model()

    def _constants(self) -> None:
        constant = self._graph.constant
        constant("tiny", np.array([1e-12], np.float32))
        constant("c127", np.array([127], np.float32))
        constant("to_uint8", np.array([128.5], np.float32))  # zero point 128, and rounding
        constant("last", np.array([-1], np.int64))
        constant("zero", np.array([0], np.int64))
        constant("one", np.array([1], np.int64))
        constant("thirds", np.array([HIDDEN] * 3, np.int64))
        constant("x_zero_point", np.array(128, np.uint8))
        constant("w_zero_point", np.array(0, np.int8))
        constant("unit_scale", np.array(1, np.float32))

    def _vector(self, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return vector(self._tensors[name])

    def _embeddings(self) -> str:
        """Word + position + token type (always 0), normalised."""
        graph = self._graph
        positions = self._vector("emb.pos").reshape(-1, HIDDEN) + self._vector("emb.type")[:HIDDEN]
        graph.constant("positions", positions)
        graph.node("Shape", ["mask"], "length", start=1, end=2)
        graph.node("Slice", ["positions", "zero", "length", "zero"], "position")
        return self._norm(graph.node("Add", ["x", "position"], "embedded"), "emb.ln", "h")

    def _layer(self, hidden: str, layer: int) -> str:
        """Attention, then the feed-forward part, each added to its input and normalised."""
        graph, weights, at = self._graph, f"l{layer}.", f"L{layer}_"
        qkv = [weights + part for part in ("q", "k", "v")]
        self._linear(hidden, qkv, HIDDEN, at + "qkv")
        heads = [at + part for part in ("q", "k", "v")]
        graph.node("Split", [at + "qkv", "thirds"], *heads, axis=-1)
        context = graph.node(
            "MultiHeadAttention",
            [*heads, "", "mask"],
            at + "context",
            domain=MICROSOFT,
            num_heads=HEADS,
        )
        attended = self._linear(context, [weights + "ao"], HIDDEN, at + "ao")
        attended = graph.node("Add", [hidden, attended], at + "sum1")
        attended = self._norm(attended, weights + "aln", at + "n1")
        inner = self._linear(attended, [weights + "fi"], HIDDEN, at + "fi")
        inner = graph.node("Gelu", [inner], at + "gelu", domain=MICROSOFT)
        outer = self._linear(inner, [weights + "fo"], FEED_FORWARD, at + "fo")
        outer = graph.node("Add", [attended, outer], at + "sum2")
        return self._norm(outer, weights + "oln", at + "n2")

    def _linear(self, x: str, names: Sequence[str], width: int, out: str) -> str:
        """`x` of `width` times the matrices `names` side by side, plus their biases."""
        graph = self._graph
        quantised, x_scale = self._quantise(x, out + "_in")
        rows = np.concatenate(
            [dequantise(self._tensors[f"{name}.w"]).reshape(-1, width) for name in names]
        )
        scales = np.abs(rows).max(axis=1) / _WEIGHT_LIMIT
        weights = np.round(rows / scales[:, None]).astype(np.int8).T
        graph.constant(out + "_w", weights)
        graph.constant(out + "_ws", scales.astype(np.float32))
        graph.constant(out + "_b", np.concatenate([self._vector(f"{name}.b") for name in names]))
        product = graph.node(
            "MatMulIntegerToFloat",
            [quantised, out + "_w", "unit_scale", out + "_ws", "x_zero_point", "w_zero_point"],
            out + "_product",
            domain=MICROSOFT,
        )
        scaled = graph.node("Mul", [product, x_scale], out + "_scaled")
        return graph.node("Add", [scaled, out + "_b"], out)

    def _quantise(self, x: str, out: str) -> tuple[str, str]:
        """`x` as uint8 with zero point 128, and its scale a token: max |x| / 127."""
        graph = self._graph
        graph.node("Abs", [x], out + "_abs")
        graph.node("ReduceMax", [out + "_abs", "last"], out + "_max", keepdims=1)
        graph.node("Max", [out + "_max", "tiny"], out + "_peak")
        scale = graph.node("Div", [out + "_peak", "c127"], out + "_scale")
        graph.node("Div", [x, scale], out + "_units")
        graph.node("Add", [out + "_units", "to_uint8"], out + "_shifted")
        return graph.node("Cast", [out + "_shifted"], out + "_u8", to=UINT8), scale

    def _norm(self, x: str, name: str, out: str) -> str:
        graph = self._graph
        weight = graph.constant(out + "_lw", self._vector(f"{name}.w"))
        bias = graph.constant(out + "_lb", self._vector(f"{name}.b"))
        return graph.node(
            "LayerNormalization", [x, weight, bias], out, axis=-1, epsilon=_LAYER_NORM_EPSILON
        )

    def _pool(self, hidden: str) -> None:
        """The sum over the text's own tokens at unit length: the direction of their mean."""
        graph = self._graph
        graph.node("Cast", ["mask"], "mask_float", to=FLOAT)
        graph.node("Unsqueeze", ["mask_float", "one"], "mask_row")
        graph.node("MatMul", ["mask_row", hidden], "sum_row")
        graph.node("Squeeze", ["sum_row", "one"], "sum")
        graph.node("LpNormalization", ["sum"], "vec", axis=-1, p=2)
