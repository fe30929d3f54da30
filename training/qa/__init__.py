"""The parts of finetune_qa.py. Only `training` and `tokenized` need torch, tokenizers or NumPy."""
