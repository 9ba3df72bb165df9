"""From text and messages to token ids, with the model's own tokenizer and chat template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import ApiError, bad_parameter
from .served_model import ServedModel

ROLES = ("system", "developer", "user", "assistant", "tool")
MAX_MESSAGES = 4096


def encode_text(model: ServedModel, text: str, add_special_tokens: bool, param: str = "prompt") -> list[int]:
    """Token ids of plain text. Errors: ApiError 400 for half of a surrogate pair, which JSON can write."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise bad_parameter(param, "the text holds half of a character (an unpaired surrogate).") from error
    return list(model.tokenizer.encode(text, add_special_tokens=add_special_tokens))


def encode_chat(model: ServedModel, body: Mapping[str, Any]) -> list[int]:
    """Token ids of `messages` through the chat template. Errors: ApiError 400 naming the parameter."""
    messages = _messages(body.get("messages"))
    generate = body.get("add_generation_prompt")
    proceed = body.get("continue_final_message") is True
    if proceed and generate is True:
        raise bad_parameter("continue_final_message", "it cannot go with add_generation_prompt.")
    extra = body.get("chat_template_kwargs") or {}
    if not isinstance(extra, dict):
        raise bad_parameter("chat_template_kwargs", "chat_template_kwargs must be an object.")
    if model.tokenizer.chat_template is None:
        raise bad_parameter("messages", "this model has no chat template.", "unsupported_parameter")
    fixed = {"tokenize", "return_dict", "return_tensors", "chat_template", "conversation"}
    own = sorted(extra.keys() & _special_names(model))
    if own:
        # A template writes some of them once for every message: a small body would become an endless prompt.
        raise bad_parameter("chat_template_kwargs", f"{', '.join(own)} is the model's own.")
    try:
        text = model.tokenizer.apply_chat_template(
            messages,
            tokenize=False,
            add_generation_prompt=not proceed and generate is not False,
            continue_final_message=proceed,
            tools=body.get("tools") or None,
            **{key: value for key, value in extra.items() if key not in fixed},
        )
    except ApiError:
        raise
    except (
        Exception
    ) as error:  # a template raises what it likes; all of it means: these messages do not fit it
        raise bad_parameter("messages", f"the chat template refuses these messages: {error}"[:500]) from error
    return encode_text(model, text, body.get("add_special_tokens") is True, "messages")


def _special_names(model: ServedModel) -> set[str]:
    tokenizer = model.tokenizer
    return {*tokenizer.SPECIAL_TOKENS_ATTRIBUTES, *tokenizer.special_tokens_map}


def _messages(given: Any) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not 0 < len(given) <= MAX_MESSAGES:
        raise bad_parameter("messages", f"messages must be a list of 1 to {MAX_MESSAGES} messages.")
    return [_message(entry, f"messages[{index}]") for index, entry in enumerate(given)]


def _message(entry: Any, where: str) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise bad_parameter(where, "a message must be an object.")
    if entry.get("role") not in ROLES:
        raise bad_parameter(f"{where}.role", f"role must be one of {', '.join(ROLES)}.")
    content = entry.get("content")
    if content is None and entry["role"] == "assistant":
        content = ""
    return {**entry, "content": _text(content, f"{where}.content")}


def _text(content: Any, where: str) -> str:
    """A message's text; a list of text parts is joined. Other parts are refused."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [
            part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
            for part in content
        ]
        if all(isinstance(text, str) for text in texts):
            return "".join(texts)
    raise bad_parameter(where, "content must be text or a list of text parts.")
