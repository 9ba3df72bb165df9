"""Loading a model and its tokenizer from a folder: local files, safetensors, no code of theirs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from ..errors import ModelError, NumericsError
from ..host.precision import dtype_for
from ..host.regular_file import irregular
from ..host.resources import as_resource_error
from .facts import weight_files


def load_model(path: str | os.PathLike[str], device: torch.device | str = "cpu") -> Any:
    """The causal language model in folder `path`, in evaluation mode, weights checked to be finite.

    Errors: ModelError MODEL_UNREADABLE, PICKLE_REFUSED; NumericsError NON_FINITE_WEIGHTS.
    """
    folder = Path(path)
    if not weight_files(folder):
        raise ModelError("MODEL_UNREADABLE", f"{folder} holds no safetensors weights")
    _refuse_irregular(folder, "MODEL_UNREADABLE")
    try:
        model = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=dtype_for(device),
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
        )
    except Exception as error:  # transformers raises many kinds; to the caller all others mean: unreadable
        if short := as_resource_error(error):
            raise short from error
        raise ModelError(
            "MODEL_UNREADABLE", f"the model in {folder} cannot be loaded: {first_line(error)}"
        ) from error
    for name, weight in model.named_parameters():
        if not torch.isfinite(weight).all():
            raise NumericsError("NON_FINITE_WEIGHTS", f"{folder}: {name} holds values that are not finite")
    return model.to(device).eval().requires_grad_(False)


def load_tokenizer(path: str | os.PathLike[str]) -> Any:
    """The tokenizer in folder `path`. Errors: ModelError TOKENIZER_UNREADABLE."""
    _refuse_irregular(Path(path), "TOKENIZER_UNREADABLE")
    try:
        return AutoTokenizer.from_pretrained(Path(path), trust_remote_code=False, local_files_only=True)
    except Exception as error:  # see load_model
        if short := as_resource_error(error):
            raise short from error
        raise ModelError(
            "TOKENIZER_UNREADABLE", f"the tokenizer in {path} cannot be loaded: {first_line(error)}"
        ) from error


def _refuse_irregular(folder: Path, code: str) -> None:
    """The library opens whatever bears a known name, and would wait for a pipe for ever."""
    if odd := irregular(folder):
        raise ModelError(code, f"{odd} is not a regular file: remove it from the model folder")


def first_line(error: Exception) -> str:
    """What an error of a library says, as far as one line goes."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__


def end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """Ids that end an answer: the model's generation config, its config and the tokenizer's own."""
    found: set[int] = set()
    for value in (
        getattr(getattr(model, "generation_config", None), "eos_token_id", None),
        getattr(model.config, "eos_token_id", None),
        getattr(tokenizer, "eos_token_id", None),
    ):
        if isinstance(value, int):
            found.add(value)
        elif value is not None:
            found.update(int(v) for v in value)
    return frozenset(found)
