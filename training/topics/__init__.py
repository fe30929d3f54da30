"""What training/make_topics.py is made of."""
