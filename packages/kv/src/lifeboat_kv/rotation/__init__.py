"""Rotary position embeddings, read out of a model and undone."""
