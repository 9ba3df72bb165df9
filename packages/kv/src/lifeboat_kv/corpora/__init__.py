"""Corpora: files or a hub's shards in, four disjoint splits of token sequences out. Start at load.py."""
