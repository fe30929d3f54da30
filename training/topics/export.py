"""A word-count model's files, as docs/classification.md describes them."""

import json
import os

import numpy as np

from common.averaging import save


def write_model(
    directory, words, names, weights, temperature, max_occurrences, min_word_length, min_distinct_words, training
):
    """weights: [word, label], written in F16; words sorted by their bytes."""
    os.makedirs(directory, exist_ok=True)
    intercept, slope = temperature
    config = {
        "architectures": ["WordCountClassifier"],
        "model_type": "word_count",
        "id2label": {str(index): name for index, name in enumerate(names)},
        "vocab_size": len(words),
        "min_word_length": min_word_length,
        "min_distinct_words": min_distinct_words,
        "max_ngram": 1,
        "tf_idf": False,
        "temperature": {
            "intercept": round(float(intercept), 4),
            "slope": round(float(slope), 4),
            "max_occurrences": max_occurrences,
        },
        "training": training,
    }
    with open(os.path.join(directory, "config.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(config, indent=2) + "\n")
    with open(os.path.join(directory, "vocab.txt"), "w", encoding="utf-8") as file:
        file.writelines(word + "\n" for word in words)
    tensors = {
        "classifier.bias": np.zeros(len(names), np.float16),
        "classifier.weight": np.ascontiguousarray(weights.T, np.float16),
    }
    save(os.path.join(directory, "model.safetensors"), tensors)
