"""The parts of training/make_topics.py."""
