"""A BertForQuestionAnswering checkpoint as a plain ONNX graph, as an exporter would write it."""

import json
import math
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

OPSET = 17  # the first with LayerNormalization


class Graph:
    def __init__(self, weights):
        self.weights, self.nodes, self.initializers = weights, [], {}

    def constant(self, name, value):
        if name not in self.initializers:
            self.initializers[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def weight(self, name, transpose=False):
        value = self.weights[name]
        return self.constant(name + ("_t" if transpose else ""), value.T if transpose else value)

    def add(self, operator, inputs, **attributes):
        output = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def linear(self, x, name):
        product = self.add("MatMul", [x, self.weight(name + ".weight", transpose=True)])
        return self.add("Add", [product, self.weight(name + ".bias")])

    def norm(self, x, name, epsilon):
        inputs = [x, self.weight(name + ".weight"), self.weight(name + ".bias")]
        return self.add("LayerNormalization", inputs, axis=-1, epsilon=epsilon)

    def gelu(self, x):
        scaled = self.add("Div", [x, self.constant("sqrt_2", np.float32(math.sqrt(2)))])
        raised = self.add("Add", [self.add("Erf", [scaled]), self.constant("one", np.float32(1))])
        return self.add("Mul", [self.add("Mul", [x, raised]), self.constant("half", np.float32(0.5))])


def build(directory, path, masked):
    """Writes the graph of a float32 checkpoint. Inputs input_ids, token_type_ids and, where `masked`,
    attention_mask, all int64 [batch, tokens]; outputs start_logits and end_logits, [batch, tokens]."""
    directory = pathlib.Path(directory)
    config = json.loads((directory / "config.json").read_text())
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    epsilon = config["layer_norm_eps"]
    graph = Graph(load_file(directory / "model.safetensors"))

    embeddings = "bert.embeddings."
    length = graph.add(
        "Slice", [graph.add("Shape", ["input_ids"])] + [graph.constant(f"at_{i}", np.array([i])) for i in (1, 2)]
    )
    positions = graph.add(
        "Slice",
        [
            graph.weight(embeddings + "position_embeddings.weight"),
            graph.constant("at_0", np.array([0])),
            length,
            graph.constant("axis_0", np.array([0])),
        ],
    )
    words = graph.add("Gather", [graph.weight(embeddings + "word_embeddings.weight"), "input_ids"])
    types = graph.add("Gather", [graph.weight(embeddings + "token_type_embeddings.weight"), "token_type_ids"])
    x = graph.add("Add", [graph.add("Add", [words, types]), positions])
    x = graph.norm(x, embeddings + "LayerNorm", epsilon)

    if masked:
        mask = graph.add("Cast", ["attention_mask"], to=TensorProto.FLOAT)
        mask = graph.add("Unsqueeze", [mask, graph.constant("axes_12", np.array([1, 2]))])
        mask = graph.add("Sub", [graph.constant("one", np.float32(1)), mask])
        mask = graph.add("Mul", [mask, graph.constant("lowest", np.float32(np.finfo(np.float32).min))])

    split = graph.constant("split", np.array([0, 0, heads, hidden // heads]))
    join = graph.constant("join", np.array([0, 0, hidden]))
    scale = graph.constant("scale", np.float32(math.sqrt(hidden // heads)))
    for layer in range(config["num_hidden_layers"]):
        prefix = f"bert.encoder.layer.{layer}."

        def projected(name, order):
            y = graph.linear(x, f"{prefix}attention.self.{name}")
            return graph.add("Transpose", [graph.add("Reshape", [y, split])], perm=order)

        query, key = projected("query", [0, 2, 1, 3]), projected("key", [0, 2, 3, 1])
        value = projected("value", [0, 2, 1, 3])
        scores = graph.add("Div", [graph.add("MatMul", [query, key]), scale])
        if masked:
            scores = graph.add("Add", [scores, mask])
        context = graph.add("MatMul", [graph.add("Softmax", [scores], axis=-1), value])
        context = graph.add("Reshape", [graph.add("Transpose", [context], perm=[0, 2, 1, 3]), join])
        y = graph.linear(context, prefix + "attention.output.dense")
        x = graph.norm(graph.add("Add", [y, x]), prefix + "attention.output.LayerNorm", epsilon)
        y = graph.gelu(graph.linear(x, prefix + "intermediate.dense"))
        y = graph.linear(y, prefix + "output.dense")
        x = graph.norm(graph.add("Add", [y, x]), prefix + "output.LayerNorm", epsilon)

    logits = graph.linear(x, "qa_outputs")
    outputs = ["start_logits", "end_logits"]
    graph.nodes.append(helper.make_node("Split", [logits], ["start", "end"], axis=-1))
    axis = graph.constant("last", np.array([-1]))
    for part, output in zip(("start", "end"), outputs):
        graph.nodes.append(helper.make_node("Squeeze", [part, axis], [output]))

    shape = ["batch", "tokens"]
    names = ["input_ids", "token_type_ids"] + (["attention_mask"] if masked else [])
    made = helper.make_graph(
        graph.nodes,
        "bert",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in names],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in outputs],
        list(graph.initializers.values()),
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
