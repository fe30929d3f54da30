"""What the fine-tuning of every task shares."""
