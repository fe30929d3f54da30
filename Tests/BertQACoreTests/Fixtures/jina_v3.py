"""jina-embeddings-v3 written down from its paper, https://arxiv.org/abs/2409.10173, and the names of its checkpoint's
tensors: what the library is compared with, as transformers has no such class."""

import json
import math

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn.utils import parametrize

TASKS = ["retrieval.query", "retrieval.passage", "separation", "classification", "text-matching"]
INSTRUCTIONS = {"retrieval.query": "find the river: ", "retrieval.passage": "the film: ", "separation": ""}


class Adapter(nn.Module):
    """LoRA (https://arxiv.org/abs/2106.09685): the weight plus the product of two matrices of the chosen task."""

    def __init__(self, weight, rank, is_embedding):
        super().__init__()
        outs, ins = weight.shape
        shapes = [(rank, ins), (outs, rank)]
        if is_embedding:
            shapes = [(outs, rank), (rank, ins)]
        self.lora_A, self.lora_B = (nn.Parameter(torch.randn(len(TASKS), *shape)) for shape in shapes)
        self.scale = 1 / rank
        self.is_embedding = is_embedding
        self.task = None

    def forward(self, weight):
        if self.task is None:
            return weight
        a, b = self.lora_A[self.task], self.lora_B[self.task]
        return weight + self.scale * (a @ b if self.is_embedding else b @ a)


def rotate(x, base):
    """Rotary positions (https://arxiv.org/abs/2104.09864) of [heads, tokens, features]."""
    tokens, size = x.shape[1:]
    frequencies = 1 / base ** (torch.arange(0, size, 2).float() / size)
    angles = torch.arange(tokens).float()[:, None] * frequencies
    first, second = x.chunk(2, dim=-1)
    cosine, sine = angles.cos(), angles.sin()
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)


class Layer(nn.Module):
    def __init__(self, hidden, heads, inner, eps, base):
        super().__init__()
        self.heads, self.base = heads, base
        self.mixer = nn.ModuleDict({"Wqkv": nn.Linear(hidden, 3 * hidden), "out_proj": nn.Linear(hidden, hidden)})
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(hidden, inner), "fc2": nn.Linear(inner, hidden)})
        self.norm1, self.norm2 = nn.LayerNorm(hidden, eps=eps), nn.LayerNorm(hidden, eps=eps)

    def forward(self, x):
        tokens, hidden = x.shape
        parts = self.mixer["Wqkv"](x).view(tokens, 3, self.heads, -1).permute(1, 2, 0, 3)
        query, key, value = rotate(parts[0], self.base), rotate(parts[1], self.base), parts[2]
        scores = query @ key.transpose(1, 2) / math.sqrt(hidden // self.heads)
        mixed = (scores.softmax(dim=-1) @ value).transpose(0, 1).reshape(tokens, hidden)
        x = self.norm1(self.mixer["out_proj"](mixed) + x)
        return self.norm2(self.mlp["fc2"](nn.functional.gelu(self.mlp["fc1"](x))) + x)


class JinaV3(nn.Module):
    """ids of one text: its tokens' vectors."""

    def __init__(self, vocabulary, hidden, layers, heads, inner, positions=8194, rank=4):
        super().__init__()
        self.config = {
            "architectures": ["XLMRobertaModel"],
            "auto_map": {"AutoModel": "jinaai/xlm-roberta-flash-implementation--modeling_lora.XLMRobertaLoRA"},
            "hidden_act": "gelu",
            "hidden_size": hidden,
            "intermediate_size": inner,
            "layer_norm_eps": 1e-5,
            "lora_adaptations": TASKS,
            "lora_alpha": 1,
            "lora_rank": rank,
            "max_position_embeddings": positions,
            "model_type": "xlm-roberta",
            "num_attention_heads": heads,
            "num_hidden_layers": layers,
            "pad_token_id": 1,
            "position_embedding_type": "rotary",
            "rotary_emb_base": 20000.0,
            "task_instructions": INSTRUCTIONS,
            "type_vocab_size": 1,
            "vocab_size": vocabulary,
        }
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(vocabulary, hidden),
                "token_type_embeddings": nn.Embedding(1, hidden),
            }
        )
        self.emb_ln = nn.LayerNorm(hidden, eps=1e-5)
        self.encoder = nn.ModuleDict(
            {"layers": nn.ModuleList(Layer(hidden, heads, inner, 1e-5, 20000.0) for _ in range(layers))}
        )
        for module in list(self.modules()):
            if isinstance(module, (nn.Linear, nn.Embedding)):
                adapter = Adapter(module.weight, rank, isinstance(module, nn.Embedding))
                parametrize.register_parametrization(module, "weight", adapter)

    def adapters(self):
        return [module for module in self.modules() if isinstance(module, Adapter)]

    def damp(self):
        """Makes random adapters change a task's numbers, and not outweigh the weights."""
        with torch.no_grad():
            for adapter in self.adapters():
                adapter.lora_A *= 0.3
                adapter.lora_B *= 0.3

    def choose(self, task):
        """None: the weights without adapters."""
        for adapter in self.adapters():
            adapter.task = None if task is None else TASKS.index(task)

    def forward(self, ids):
        types = torch.zeros_like(ids)
        x = self.embeddings["word_embeddings"](ids) + self.embeddings["token_type_embeddings"](types)
        x = self.emb_ln(x)
        for layer in self.encoder["layers"]:
            x = layer(x)
        return x

    def save(self, directory, dtype=torch.float32):
        """Writes the files of a checkpoint with its modules, but no tokenizer. The pooler is of no use."""
        tensors = {f"roberta.{name}": tensor.to(dtype).contiguous() for name, tensor in self.state_dict().items()}
        hidden = self.config["hidden_size"]
        tensors["roberta.pooler.dense.parametrizations.weight.original"] = torch.zeros(hidden, hidden, dtype=dtype)
        save_file(tensors, directory / "model.safetensors", metadata={"format": "pt"})
        modules = ["custom_st.Transformer", "sentence_transformers.models.Pooling"]
        modules = [
            {"idx": index, "name": str(index), "path": ["", "1_Pooling"][index], "type": name}
            for index, name in enumerate(modules)
        ]
        pooling = {"word_embedding_dimension": hidden, "pooling_mode_mean_tokens": True}
        (directory / "1_Pooling").mkdir(exist_ok=True)
        for name, value in (
            ("config.json", self.config),
            ("modules.json", modules),
            ("1_Pooling/config.json", pooling),
            ("config_sentence_transformers.json", {"prompts": INSTRUCTIONS, "default_prompt_name": None}),
        ):
            (directory / name).write_text(json.dumps(value, indent=1, sort_keys=True) + "\n")
