"""Model folders: their facts, whether two can be a pair, loading them, their caches."""
