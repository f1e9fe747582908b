"""Writing an ONNX graph without the `onnx` package; field numbers are those of onnx.proto.

https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from libs.runtime.inference.protobuf import field

FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7
_TYPES = {"f4": FLOAT, "u1": UINT8, "i1": INT8, "i4": INT32, "i8": INT64}
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT = 1, 2

MICROSOFT = "com.microsoft"
_IR_VERSION = 9
_OPSETS = {"": 20, MICROSOFT: 1}


class GraphWriter:
    """Collects constants and nodes; values are known by name, as in ONNX itself."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts: list[bytes] = []

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """An initialiser: `value` with its shape (a scalar has none); returns `name`."""
        array = np.asarray(value, order="C")
        shape = b"".join(field(1, size) for size in array.shape)
        kind = field(2, _TYPES[array.dtype.str[1:]])
        self._parts.append(field(5, shape + kind + field(8, name) + field(9, array.tobytes())))
        return name

    def node(
        self,
        op: str,
        inputs: Sequence[str],
        *outputs: str,
        domain: str = "",
        **attributes: int | float,
    ) -> str:
        """One operator; returns its first output. An input left out is the empty string."""
        body = b"".join(field(1, name) for name in inputs)
        body += b"".join(field(2, name) for name in outputs)
        body += field(3, outputs[0]) + field(4, op)
        for name, value in attributes.items():
            if isinstance(value, float):
                attribute = field(2, value) + field(20, _ATTRIBUTE_FLOAT)
            else:
                attribute = field(3, value) + field(20, _ATTRIBUTE_INT)
            body += field(5, field(1, name) + attribute)
        self._parts.append(field(1, body + field(7, domain)))
        return outputs[0]

    def input(self, name: str, kind: int, *shape: int | str) -> None:
        """Declare an input; a dimension given as a name is free."""
        self._parts.append(_value_info(11, name, kind, shape))

    def output(self, name: str, kind: int, *shape: int | str) -> None:
        """Declare an output."""
        self._parts.append(_value_info(12, name, kind, shape))

    def model(self) -> bytes:
        """The serialised `ModelProto`."""
        graph = b"".join(self._parts) + field(2, self._name)
        opsets = b"".join(
            field(8, field(1, domain) + field(2, version)) for domain, version in _OPSETS.items()
        )
        return field(1, _IR_VERSION) + field(7, graph) + opsets


def _value_info(number: int, name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    dimensions = b"".join(
        field(1, field(2, size) if isinstance(size, str) else field(1, size)) for size in shape
    )
    tensor = field(1, kind) + field(2, dimensions)
    return field(number, field(1, name) + field(2, field(1, tensor)))
