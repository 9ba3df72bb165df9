"""Corpora: files or a hub's shards in, four disjoint splits of token sequences out. Start at load.py."""

from .load import load_corpus
from .sequence import SHORTEST_PREFIX, SPLITS, Corpus, Note, Sequence, Sizes

__all__ = ["SHORTEST_PREFIX", "SPLITS", "Corpus", "Note", "Sequence", "Sizes", "load_corpus"]
