"""What the harness's wikitext task calls for prefix perplexity; our task files name these functions."""

from __future__ import annotations

from typing import Any

from lm_eval.tasks.wikitext.preprocess_wikitext import wikitext_detokenizer

from .prefix_perplexity import process_results, split_text

__all__ = ["process_docs", "process_results"]


def process_docs(documents: Any) -> Any:
    """The documents with their detokenized `text`, without those that cannot be cut in two."""

    def add_text(doc: dict[str, Any]) -> dict[str, Any]:
        return {"text": wikitext_detokenizer(doc)}

    def can_be_cut(doc: dict[str, Any]) -> bool:
        try:
            split_text(doc["text"])
        except ValueError:
            return False
        return True

    return documents.map(add_text).filter(can_be_cut)
