"""JinaBERT (jina-embeddings-v2) written down from its paper, https://arxiv.org/abs/2310.19923, and the names of its
checkpoints' tensors: what the library is compared with, as transformers has no such class."""

import json
import math

import torch
from safetensors.torch import save_file
from torch import nn


def slopes(heads):
    """Of ALiBi (https://arxiv.org/abs/2108.12409)."""
    power = 2 ** int(math.log2(heads))
    first = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    if power == heads:
        return first
    return first + slopes(2 * power)[0::2][: heads - power]


class Layer(nn.Module):
    def __init__(self, hidden, heads, inner, eps):
        super().__init__()
        self.heads = heads
        self.attention = nn.ModuleDict(
            {
                "self": nn.ModuleDict({name: nn.Linear(hidden, hidden) for name in ("query", "key", "value")}),
                "output": nn.ModuleDict(
                    {"dense": nn.Linear(hidden, hidden), "LayerNorm": nn.LayerNorm(hidden, eps=eps)}
                ),
            }
        )
        self.mlp = nn.ModuleDict(
            {
                "gated_layers": nn.Linear(hidden, 2 * inner, bias=False),
                "wo": nn.Linear(inner, hidden),
                "layernorm": nn.LayerNorm(hidden, eps=eps),
            }
        )

    def forward(self, x):
        tokens, hidden = x.shape

        def heads(name):
            return self.attention["self"][name](x).view(tokens, self.heads, -1).transpose(0, 1)

        distances = (torch.arange(tokens)[:, None] - torch.arange(tokens)[None]).abs()
        bias = -torch.tensor(slopes(self.heads))[:, None, None] * distances
        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.transpose(1, 2) / math.sqrt(hidden // self.heads) + bias
        mixed = (scores.softmax(dim=-1) @ value).transpose(0, 1).reshape(tokens, hidden)
        output = self.attention["output"]
        x = output["LayerNorm"](output["dense"](mixed) + x)
        activated, plain = self.mlp["gated_layers"](x).chunk(2, dim=-1)
        return self.mlp["layernorm"](self.mlp["wo"](nn.functional.gelu(activated) * plain) + x)


class JinaBert(nn.Module):
    """ids and token types of one text: its tokens' vectors."""

    def __init__(self, vocabulary, hidden, layers, heads, inner, positions=8192, eps=1e-12):
        super().__init__()
        self.config = {
            "architectures": ["JinaBertForMaskedLM"],
            "auto_map": {"AutoModel": "jinaai/jina-bert-implementation--modeling_bert.JinaBertModel"},
            "emb_pooler": "mean",
            "feed_forward_type": "geglu",
            "hidden_act": "gelu",
            "hidden_size": hidden,
            "intermediate_size": inner,
            "layer_norm_eps": eps,
            "max_position_embeddings": positions,
            "model_type": "bert",
            "num_attention_heads": heads,
            "num_hidden_layers": layers,
            "position_embedding_type": "alibi",
            "type_vocab_size": 2,
            "vocab_size": vocabulary,
        }
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(vocabulary, hidden),
                "token_type_embeddings": nn.Embedding(2, hidden),
                "LayerNorm": nn.LayerNorm(hidden, eps=eps),
            }
        )
        self.encoder = nn.ModuleDict(
            {"layer": nn.ModuleList(Layer(hidden, heads, inner, eps) for _ in range(layers))}
        )

    def forward(self, ids, types):
        x = self.embeddings["word_embeddings"](ids) + self.embeddings["token_type_embeddings"](types)
        x = self.embeddings["LayerNorm"](x)
        for layer in self.encoder["layer"]:
            x = layer(x)
        return x

    def save(self, directory, dtype=torch.float32):
        """Writes config.json and model.safetensors, with a part of the head for masked words, which nothing reads."""
        tensors = {f"bert.{name}": tensor.to(dtype) for name, tensor in self.state_dict().items()}
        tensors["cls.predictions.bias"] = torch.zeros(self.config["vocab_size"], dtype=dtype)
        save_file(tensors, directory / "model.safetensors", metadata={"format": "pt"})
        (directory / "config.json").write_text(json.dumps(self.config, indent=1, sort_keys=True) + "\n")
