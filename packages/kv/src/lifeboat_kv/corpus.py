"""The door of the corpora room: what the calibrator uses of it."""

from .corpora.load import load_corpus
from .corpora.sequence import SHORTEST_PREFIX, SPLITS, Corpus, Note, Sequence, Sizes

__all__ = ["SHORTEST_PREFIX", "SPLITS", "Corpus", "Note", "Sequence", "Sizes", "load_corpus"]
