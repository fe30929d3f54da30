"""Question answering models of other families at their base sizes, random, and their ONNX graphs."""

import torch
import transformers

# RoBERTa-base and ModernBERT-base have their configuration classes' values, DeBERTa-v3-base those of its file.
SPECIAL = {"pad_token_id": 0, "cls_token_id": 2, "bos_token_id": 2, "sep_token_id": 3, "eos_token_id": 3}
KINDS = {
    "roberta": ("Roberta", {"max_position_embeddings": 514, "type_vocab_size": 1, "layer_norm_eps": 1e-5}),
    "deberta": (
        "DebertaV2",
        {
            "vocab_size": 128_100,
            "hidden_size": 768,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "intermediate_size": 3072,
            "type_vocab_size": 0,
            "relative_attention": True,
            "position_buckets": 256,
            "max_relative_positions": -1,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_biased_input": False,
        },
    ),
    "modernbert": ("ModernBert", SPECIAL),
}


def save(name, directory):
    prefix, settings = KINDS[name]
    torch.manual_seed(1)
    config = getattr(transformers, prefix + "Config")(**settings)
    getattr(transformers, prefix + "ForQuestionAnswering")(config).eval().save_pretrained(directory)


class Logits(torch.nn.Module):
    """The model as a function of ids alone: of one window, or of several of one length."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        output = self.model(input_ids=input_ids)
        return output.start_logits, output.end_logits


def export(name, directory, path):
    kind = getattr(transformers, KINDS[name][0] + "ForQuestionAnswering")
    model = Logits(kind.from_pretrained(directory, attn_implementation="eager")).eval()
    axes = {0: "batch", 1: "tokens"}
    # The graph is what these ids make the model compute: longer than what a local layer sees, so that its mask is there.
    torch.onnx.export(
        model,
        (torch.randint(5, 1000, (1, 300)),),
        str(path),
        input_names=["input_ids"],
        output_names=["start_logits", "end_logits"],
        dynamic_axes={each: axes for each in ("input_ids", "start_logits", "end_logits")},
        opset_version=17,
        dynamo=False,
    )
    check(model, path)


def check(model, path):
    """The graph gives the model's logits at other lengths too."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for length in 64, 400:
        ids = torch.randint(5, 1000, (1, length))
        with torch.no_grad():
            expected = model(ids)[0].numpy()
        error = abs(session.run(None, {"input_ids": ids.numpy()})[0] - expected).max()
        if not error < 1e-3:
            raise RuntimeError(f"the exported graph is {error} off at {length} tokens")
