"""What every chat of a model begins with, found by rendering its template."""

from __future__ import annotations

from typing import Any

_PROBES = ("a", "Z")


def template_head(tokenizer: Any) -> tuple[int, ...]:
    """Token ids that begin every user turn of the chat template, whatever is said; () without a template.

    A sequence that shares only some of them (the first token, say) still gets those exactly.
    """
    if not getattr(tokenizer, "chat_template", None):
        bos = getattr(tokenizer, "bos_token_id", None)
        return () if bos is None else (int(bos),)
    rendered = []
    for content in _PROBES:
        chat = [{"role": "user", "content": content}]
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        rendered.append(tokenizer(text, add_special_tokens=False)["input_ids"])
    same = 0
    while same < min(map(len, rendered)) and rendered[0][same] == rendered[1][same]:
        same += 1
    return tuple(int(t) for t in rendered[0][:same])
