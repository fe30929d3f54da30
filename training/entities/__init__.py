"""Fine-tuning of a model that finds entities; see finetune_entities.py."""
