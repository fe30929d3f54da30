"""One model in one engine: prepare() takes windows, run() computes their logits.

A window is (ids, index of the first token of type 1). Peers take windows one by one, or in batches of
similar length that are padded to the longest.
"""

import ctypes
import functools

import numpy as np

from . import models


class Libbertqa:
    pads = False

    def __init__(self, model, precision, threads, isa="auto"):
        import bertqa
        from bertqa._native import check, library

        path = models.int8_form(model) if precision == "int8" else models.checkpoint(model)
        self.context = bertqa.Context(path, precision=precision, threads=threads, isa=isa)
        self.check, self.call = check, library().logits

    def prepare(self, windows, batch):
        """All windows of a case go into one call, however `batch` is set."""
        ids = [i for window, _ in windows for i in window]
        sizes = ctypes.c_size_t * len(windows)
        floats = ctypes.c_float * len(ids)
        return (
            (ctypes.c_int32 * len(ids))(*ids),
            len(ids),
            sizes(*(len(w) for w, _ in windows)),
            sizes(*(second for _, second in windows)),
            len(windows),
            None,
            floats(),
            floats(),
        )

    def run(self, prepared):
        self.check(self.call(self.context._handle.pointer, *prepared))

    def logits(self, prepared):
        self.run(prepared)
        at = np.cumsum(prepared[2][:-1])
        return list(zip(np.split(np.array(prepared[6]), at), np.split(np.array(prepared[7]), at)))


class Peer:
    """Common to the peers: arrays of int64, batched. Only batches of several lengths have a mask; engines
    have one graph with it and one without."""

    pads = True

    def prepare(self, windows, batch):
        order = sorted(range(len(windows)), key=lambda i: len(windows[i][0]))
        feeds = []
        for start in range(0, len(order), batch):
            indices = order[start : start + batch]
            group = [windows[i] for i in indices]
            ragged = len({len(ids) for ids, _ in group}) > 1
            feeds.append((indices, [len(ids) for ids, _ in group], self.feed(models.arrays(group, ragged))))
        return feeds

    def feed(self, arrays):
        return arrays

    def run(self, prepared):
        for _, _, feed in prepared:
            self.compute(feed)

    def logits(self, prepared):
        result = {}
        for indices, lengths, feed in prepared:
            start, end = (np.asarray(x, np.float32) for x in self.compute(feed))
            for row, index in enumerate(indices):
                result[index] = (start[row, : lengths[row]].copy(), end[row, : lengths[row]].copy())
        return [result[i] for i in range(len(result))]


class ONNXRuntime(Peer):
    def __init__(self, model, precision, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        # Its threads spin within a call and not between calls, where others are measured.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        self.session = functools.cache(
            lambda masked: onnxruntime.InferenceSession(
                models.onnx_file(model, masked, precision == "int8"), options, providers=["CPUExecutionProvider"]
            )
        )
        self.session(False)

    def feed(self, arrays):
        names = {given.name for given in self.session(len(arrays) == 3).get_inputs()}
        feed = dict(zip(("input_ids", "token_type_ids", "attention_mask"), arrays))
        return {name: array for name, array in feed.items() if name in names}

    def compute(self, feed):
        return self.session("attention_mask" in feed).run(None, feed)


class OpenVINO(Peer):
    def __init__(self, model, precision, threads):
        import openvino as ov

        core = ov.Core()
        settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": "bf16" if precision in ("bf16", "int8") else "f32",
        }

        @functools.cache
        def request(masked):
            int8 = precision.startswith("int8")
            path = models.openvino_int8(model, masked, []) if int8 else models.onnx_file(model, masked)
            return core.compile_model(path, "CPU", settings).create_infer_request()

        self.request = request
        self.request(False)

    def feed(self, arrays):
        inputs = self.request(len(arrays) == 3).model_inputs
        names = {name for given in inputs for name in given.names}
        feed = dict(zip(("input_ids", "token_type_ids", "attention_mask"), arrays))
        return {name: array for name, array in feed.items() if name in names}

    def compute(self, feed):
        result = self.request("attention_mask" in feed).infer(feed, share_inputs=True, share_outputs=True)
        return tuple(result.values())


class PyTorch(Peer):
    def __init__(self, model, precision, threads):
        import torch
        import transformers

        torch.set_num_threads(threads)
        self.torch = torch
        kind = torch.float32 if precision == "f32" else torch.bfloat16
        self.model = transformers.BertForQuestionAnswering.from_pretrained(
            models.checkpoint(model), attn_implementation="sdpa", dtype=kind
        ).eval()

    def feed(self, arrays):
        names = ("input_ids", "token_type_ids", "attention_mask")
        return {name: self.torch.from_numpy(array) for name, array in zip(names, arrays)}

    def compute(self, feed):
        with self.torch.inference_mode():
            output = self.model(**feed)
            return output.start_logits.float().numpy(), output.end_logits.float().numpy()


class CTranslate2(Peer):
    def __init__(self, model, precision, threads):
        import ctranslate2
        from safetensors import safe_open

        self.storage = ctranslate2.StorageView.from_array
        self.encoder = ctranslate2.Encoder(
            str(models.ctranslate2(model, precision)),
            device="cpu",
            compute_type="int8" if precision == "int8" else "float32",
            intra_threads=threads,
        )
        with safe_open(models.checkpoint(model) / "model.safetensors", "np") as file:
            self.weight = file.get_tensor("qa_outputs.weight").T.copy()
            self.bias = file.get_tensor("qa_outputs.bias")

    def feed(self, arrays):
        ids, types = (array.astype(np.int32) for array in arrays[:2])
        lengths = arrays[2].sum(1) if len(arrays) == 3 else np.full(len(ids), ids.shape[1])
        return ids, types, lengths.astype(np.int32)

    def compute(self, feed):
        ids, types, lengths = feed
        output = self.encoder.forward_batch(
            self.storage(ids), self.storage(lengths), token_type_ids=[row.tolist() for row in types]
        )
        logits = np.array(output.last_hidden_state) @ self.weight + self.bias
        return logits[..., 0], logits[..., 1]


# Label: (class, precision, package to import for it).
ENGINES = {
    "libbertqa int8": (Libbertqa, "int8", "bertqa"),
    "libbertqa bf16": (Libbertqa, "bf16", "bertqa"),
    "libbertqa f32": (Libbertqa, "f32", "bertqa"),
    "ONNX Runtime fp32": (ONNXRuntime, "f32", "onnxruntime"),
    "ONNX Runtime int8": (ONNXRuntime, "int8", "onnxruntime"),
    "OpenVINO f32": (OpenVINO, "f32", "openvino"),
    "OpenVINO bf16": (OpenVINO, "bf16", "openvino"),
    "OpenVINO int8+bf16": (OpenVINO, "int8", "nncf"),
    "PyTorch fp32": (PyTorch, "f32", "transformers"),
    "PyTorch bf16": (PyTorch, "bf16", "transformers"),
    "CTranslate2 int8": (CTranslate2, "int8", "ctranslate2"),
}
