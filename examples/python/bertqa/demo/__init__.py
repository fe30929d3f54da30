"""A page to look at, in a browser on this machine: `python -m bertqa.demo [FILES...]`.

Questions about a document, classification with the words that decided, and texts continued word by word.
"""
