"""A demo page for a browser on this machine: `python -m bertqa.demo [FILES...]`.

It answers questions about a document, classifies texts with the decisive words, and continues texts word by word.
"""
