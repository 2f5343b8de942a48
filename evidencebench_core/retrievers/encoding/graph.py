"""MiniLM's BERT as an ONNX graph, written straight from its weights: no torch, no export, half a second.

The operators are the standard ones and those that ONNX Runtime adds for transformers, in the form in
which they are to run, so a session needs no optimiser. The graph starts behind the word embeddings
(a look-up that numpy does) and ends before pooling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Weights = Callable[[str], NDArray[np.float32]]

_LAYERS: Final = 6
_MIDDLE: Final = 3  # the first is 0
_HEADS: Final = 12
_EPSILON: Final = 1e-12  # of layer normalisation
_OPSET: Final = 18
_IR: Final = 8  # as old as the opset: newer runtimes read it too
_RUNTIME: Final = "com.microsoft"
_STEPS: Final = 127  # int8 values on either side of zero; uint8 activations have their zero at 128


def bert_graph(weights: Weights, *, int8: bool) -> bytes:
    """The encoder layers of a BERT, serialised.

    The input ``tokens`` is float32 of shape (batch, length, hidden): word plus position embeddings of
    texts of one length, so that there is nothing to mask. The outputs ``hidden``, and ``middle`` of the fourth
    layer, have the same shape.
    ``weights`` gives the array of a name, linear layers as torch keeps them: (out, in).
    """
    return _Graph(weights, int8).serialised()


class _Graph:
    """Collects nodes and constants; names of values are numbered."""

    def __init__(self, weights: Weights, int8: bool) -> None:
        self.weights, self.int8 = weights, int8
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def serialised(self) -> bytes:
        from onnx import TensorProto, helper

        hidden = self.normalised("tokens", "embeddings.LayerNorm")
        for layer in range(_LAYERS):
            hidden = self.layer(hidden, f"encoder.layer.{layer}")
            if layer == _MIDDLE:
                self.nodes[-1].output[0] = hidden = "middle"
        self.nodes[-1].output[0] = "hidden"
        size = int(self.weights("embeddings.LayerNorm.weight").shape[0])
        shape: list[str | int | None] = ["batch", "length", size]
        graph = helper.make_graph(
            self.nodes,
            "bert",
            [helper.make_tensor_value_info("tokens", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("hidden", "middle")],
            list(self.constants.values()),
        )
        versions = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_RUNTIME, 1)]
        return bytes(helper.make_model(graph, opset_imports=versions, ir_version=_IR).SerializeToString())

    def layer(self, x: str, name: str) -> str:
        context = self.attention(x, f"{name}.attention.self")
        projected = self.linear(context, f"{name}.attention.output.dense")
        x = self.normalised(self.node("Add", projected, x), f"{name}.attention.output.LayerNorm")
        wide = self.product(x, self.weights(f"{name}.intermediate.dense.weight").T, f"{name}.up")
        bias = self.constant(f"{name}.up.bias", self.weights(f"{name}.intermediate.dense.bias"))
        wide = self.node("BiasGelu", wide, bias, domain=_RUNTIME)
        narrow = self.linear(wide, f"{name}.output.dense")
        return self.normalised(self.node("Add", narrow, x), f"{name}.output.LayerNorm")

    def attention(self, x: str, name: str) -> str:
        parts = ("query", "key", "value")
        matrix = np.concatenate([self.weights(f"{name}.{part}.weight").T for part in parts], axis=1)
        bias = np.concatenate([self.weights(f"{name}.{part}.bias") for part in parts])
        size = matrix.shape[0] // _HEADS
        first = self.constant("first", np.array([0]))
        joint = self.node("Add", self.product(x, matrix, name), self.constant(f"{name}.bias", bias))
        joint = self.node("Reshape", joint, self.constant("apart", np.array([0, 0, 3, _HEADS, size])))
        joint = self.node("Transpose", joint, perm=[2, 0, 3, 1, 4])  # part, batch, head, token, size
        query, key, value = (
            self.node("Squeeze", part, first)
            for part in self.nodes_outputs("Split", 3, joint, axis=0, num_outputs=3)
        )
        scores = self.node("FusedMatMul", query, key, domain=_RUNTIME, transB=1, alpha=size**-0.5)
        # ONNX Runtime's own Softmax adds up in another order with AVX-512 than without, these do not
        last = self.constant("last", np.array([-1]))
        highest = self.node("ReduceMax", scores, last, keepdims=1)
        shares = self.node("Exp", self.node("Sub", scores, highest))
        whole = self.node("ReduceSum", shares, last, keepdims=1)
        context = self.node("Div", self.node("MatMul", shares, value), whole)
        context = self.node("Transpose", context, perm=[0, 2, 1, 3])
        return self.node("Reshape", context, self.constant("together", np.array([0, 0, _HEADS * size])))

    def linear(self, x: str, name: str) -> str:
        product = self.product(x, self.weights(f"{name}.weight").T, name)
        return self.node("Add", product, self.constant(f"{name}.bias", self.weights(f"{name}.bias")))

    def product(self, x: str, matrix: NDArray[np.float32], name: str) -> str:
        """The rows of ``x`` times a matrix (in, out).

        With ``int8`` after LLM.int8() (Dettmers et al. 2022) without its outlier path: weights with a scale for
        each output, activations with a scale for each token, so that no text depends on others in its batch.
        """
        if not self.int8:
            return self.node("MatMul", x, self.constant(f"{name}.matrix", matrix))
        scales = np.maximum(np.abs(matrix).max(axis=0), np.float32(1e-12)) / np.float32(_STEPS)
        steps = np.rint(matrix / scales).astype(np.int8)
        largest = self.node(
            "ReduceMax", self.node("Abs", x), self.constant("last", np.array([-1])), keepdims=1
        )
        largest = self.node("Max", largest, self.constant("tiny", np.array(1e-12, np.float32)))
        step = self.constant("step", np.array(1 / _STEPS, np.float32))
        zero = self.constant("zero", np.array(_STEPS + 1, np.uint8))
        inputs = (
            self.node("QuantizeLinear", self.node("Div", x, largest), step, zero),
            self.constant(f"{name}.steps", steps),
            step,
            self.constant(f"{name}.scales", scales),
            zero,
        )
        return self.node("Mul", self.node("MatMulIntegerToFloat", *inputs, domain=_RUNTIME), largest)

    def normalised(self, x: str, name: str) -> str:
        weight, bias = (
            self.constant(f"{name}.{part}", self.weights(f"{name}.{part}")) for part in ("weight", "bias")
        )
        return self.node("LayerNormalization", x, weight, bias, axis=-1, epsilon=_EPSILON)

    def constant(self, name: str, value: NDArray[Any]) -> str:
        if name not in self.constants:
            from onnx import numpy_helper

            self.constants[name] = numpy_helper.from_array(np.array(value, order="C", ndmin=value.ndim), name)
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.nodes_outputs(operator, 1, *inputs, **attributes)[0]

    def nodes_outputs(self, operator: str, n_outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        from onnx import helper

        outputs = [f"{len(self.nodes)}.{place}" for place in range(n_outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), outputs, **attributes))
        return outputs
