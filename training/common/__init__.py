"""Shared by the fine-tuning of every task."""
