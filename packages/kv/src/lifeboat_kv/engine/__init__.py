"""The reference engine: a subset of vLLM's HTTP API over transformers models in one process."""
