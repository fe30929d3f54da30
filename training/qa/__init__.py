"""The parts of finetune_qa.py, calibrate_qa.py and hard_negatives.py."""
