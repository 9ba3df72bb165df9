"""Calibrates a pair of models and carries the KV cache of one into the other."""

__version__ = "0.1.0"
