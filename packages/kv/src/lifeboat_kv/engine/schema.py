"""Reading request bodies: every field checked, every refusal names its parameter."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import ApiError, bad_parameter
from .sequence import SamplingOptions, StageOrder, TransferOrder
from .staging import MAX_TTL_MS

HANDLE = re.compile(r"[0-9a-fA-F]{32,128}")
MAC = re.compile(r"[0-9a-fA-F]{32,128}")
SHA256 = re.compile(r"[0-9a-f]{64}")
MAX_STOPS = 16
MAX_STOP_LENGTH = 1024
MAX_TOP_LOGPROBS = 20
MAX_PROMPTS = 128

Body = Mapping[str, Any]


@dataclass(frozen=True)
class ReplyOptions:
    """How the answer is to be written."""

    stream: bool
    include_usage: bool
    return_token_ids: bool


@dataclass(frozen=True)
class Orders:
    """What the gateway asked for beside the answer.

    `native_salt` is where blocks lie that the model computed itself: a request under another salt goes
    on from them.
    """

    salt: str | None
    stage: StageOrder | None = None
    transfer: TransferOrder | None = None
    native_salt: str | None = None


def read_reply(body: Body) -> ReplyOptions:
    """`stream`, `stream_options.include_usage` and `return_token_ids`."""
    stream = _flag(body, "stream")
    options = body.get("stream_options")
    if options is not None and not stream:
        raise bad_parameter("stream_options", "stream_options is only allowed when stream is true.")
    if options is not None and not isinstance(options, dict):
        raise bad_parameter("stream_options", "stream_options must be an object.")
    return ReplyOptions(stream, _flag(options or {}, "include_usage"), _flag(body, "return_token_ids"))


def read_n(body: Body) -> int:
    """`n`, one by default; `best_of` above it is refused."""
    n = _integer(body, "n", 1, low=1, high=1024)
    if body.get("best_of") not in (None, n):
        raise bad_parameter("best_of", "best_of is not supported by this engine.", "unsupported_parameter")
    return n


def read_orders(body: Body) -> Orders:
    """`cache_salt` and `kv_transfer_params`."""
    salt = _salt(body, "cache_salt", "cache_salt")
    given = body.get("kv_transfer_params")
    if given is None:
        return Orders(salt)
    if not isinstance(given, dict):
        raise bad_parameter("kv_transfer_params", "kv_transfer_params must be an object.")
    native = _salt(given, "native_salt", "kv_transfer_params.native_salt")
    if native is not None and given.keys() == {"native_salt"}:
        return Orders(salt, native_salt=native)
    handle = _pattern(given, "handle", HANDLE, "32 to 128 hexadecimal digits").lower()
    mac = _pattern(given, "mac", MAC, "32 to 128 hexadecimal digits").lower()
    if given.get("do_stage"):
        ttl = given.get("ttl_ms", 5000)
        if isinstance(ttl, bool) or not isinstance(ttl, int) or not 1 <= ttl <= MAX_TTL_MS:
            raise bad_parameter("kv_transfer_params.ttl_ms", f"ttl_ms must be 1 to {MAX_TTL_MS}.")
        start = given.get("from_token", 0)
        if not _is_int(start) or start < 0:
            raise bad_parameter("kv_transfer_params.from_token", "from_token must be a whole number from 0.")
        return Orders(salt, StageOrder(handle, mac, ttl, start), native_salt=native)
    sha256 = _pattern(given, "mapper_sha256", SHA256, "64 hexadecimal digits")
    source = given.get("source_model")
    if not isinstance(source, str) or not 0 < len(source) <= 256:
        raise bad_parameter("kv_transfer_params.source_model", "source_model must name a served model.")
    return Orders(salt, transfer=TransferOrder(handle, mac, sha256, source), native_salt=native)


def read_sampling(body: Body, vocabulary: int, max_tokens: int, logprobs: int | None) -> SamplingOptions:
    """Everything about choosing tokens; `max_tokens` and `logprobs` differ by endpoint and come in read."""
    _refuse_unsupported(body)
    return SamplingOptions(
        max_tokens=max_tokens,
        temperature=_number(body, "temperature", 1.0, low=0, high=2),
        top_p=_number(body, "top_p", 1.0, low=0, high=1, above=True),
        top_k=max(0, _integer(body, "top_k", 0, low=-1, high=1 << 31)),
        min_p=_number(body, "min_p", 0.0, low=0, high=1),
        seed=_seed(body),
        stop=_stops(body),
        stop_token_ids=_token_ids(body, "stop_token_ids", vocabulary, most=64),
        include_stop=_flag(body, "include_stop_str_in_output"),
        skip_special_tokens=body.get("skip_special_tokens") is None or _flag(body, "skip_special_tokens"),
        ignore_eos=_flag(body, "ignore_eos"),
        min_tokens=_integer(body, "min_tokens", 0, low=0, high=max_tokens),
        logprobs=logprobs,
        frequency_penalty=_number(body, "frequency_penalty", 0.0, low=-2, high=2),
        presence_penalty=_number(body, "presence_penalty", 0.0, low=-2, high=2),
        repetition_penalty=_number(body, "repetition_penalty", 1.0, low=0, high=100, above=True),
        logit_bias=_bias(body, vocabulary),
    )


def read_max_tokens(body: Body, keys: Sequence[str], default: int) -> tuple[int, str]:
    """The answer's bound and the key that gave it; the first key present wins."""
    for key in keys:
        if body.get(key) is not None:
            return _integer(body, key, default, low=1, high=1 << 31), key
    return default, keys[0]


def read_chat_logprobs(body: Body) -> int | None:
    """`logprobs` and `top_logprobs` of a chat body: the count of top entries, None without logprobs."""
    top = _integer(body, "top_logprobs", 0, low=0, high=MAX_TOP_LOGPROBS)
    if not _flag(body, "logprobs"):
        if top:
            raise bad_parameter("top_logprobs", "top_logprobs needs logprobs to be true.")
        return None
    return top


def read_completion_logprobs(body: Body) -> int | None:
    """`logprobs` of a completion body: an integer count, null for none."""
    given = body.get("logprobs")
    if given is None or given is False:
        return None
    if given is True:
        return 1
    return _integer(body, "logprobs", 0, low=0, high=MAX_TOP_LOGPROBS)


def read_prompts(body: Body, vocabulary: int) -> list[str] | list[list[int]]:
    """`prompt` of a completion body: text, texts, token ids or lists of them."""
    prompt = body.get("prompt")
    if isinstance(prompt, str):
        return [prompt]
    if isinstance(prompt, list) and len(prompt) > 0:
        if all(_is_int(t) for t in prompt):
            return [_check_ids(prompt, "prompt", vocabulary)]
        if len(prompt) > MAX_PROMPTS:
            raise bad_parameter("prompt", f"at most {MAX_PROMPTS} prompts at once.")
        if all(isinstance(p, str) for p in prompt):
            return list(prompt)
        if all(isinstance(p, list) and p and all(_is_int(t) for t in p) for p in prompt):
            return [_check_ids(p, "prompt", vocabulary) for p in prompt]
    raise bad_parameter(
        "prompt", "prompt must be text, a list of texts, token ids or a list of token id lists."
    )


def _salt(body: Body, key: str, param: str) -> str | None:
    salt = body.get(key)
    if salt is not None and not (isinstance(salt, str) and 0 < len(salt) <= 1024):
        raise bad_parameter(param, f"{key} must be a string of 1 to 1024 characters.")
    return salt


def _refuse_unsupported(body: Body) -> None:
    """What this engine cannot honour is refused rather than ignored."""
    form = body.get("response_format")
    if form is not None and not (isinstance(form, dict) and form.get("type") == "text"):
        raise bad_parameter(
            "response_format", "only response_format {type: text} is supported.", "unsupported_parameter"
        )
    if body.get("tools") and body.get("tool_choice") != "none":
        raise bad_parameter("tools", "this engine does not parse tool calls.", "unsupported_parameter")
    if body.get("echo"):
        raise bad_parameter("echo", "echo is not supported.", "unsupported_parameter")
    for key in ("suffix", "functions", "prompt_logprobs", "structured_outputs", "guided_json"):
        if body.get(key):
            raise bad_parameter(key, f"{key} is not supported.", "unsupported_parameter")
    if body.get("use_beam_search"):
        raise bad_parameter("use_beam_search", "beam search is not supported.", "unsupported_parameter")


def _flag(body: Body, key: str) -> bool:
    value = body.get(key)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise bad_parameter(key, f"{key} must be true or false.")
    return value


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _integer(body: Body, key: str, default: int, *, low: int, high: int) -> int:
    value = body.get(key)
    if value is None:
        return default
    if not _is_int(value) or not low <= value <= high:
        raise bad_parameter(key, f"{key} must be a whole number from {low} to {high}.")
    return value


def _number(body: Body, key: str, default: float, *, low: float, high: float, above: bool = False) -> float:
    value = body.get(key)
    if value is None:
        return default
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not good or not low <= value <= high or (above and value == low):
        raise bad_parameter(key, f"{key} must be a number {'above' if above else 'from'} {low} up to {high}.")
    return float(value)


def _seed(body: Body) -> int | None:
    value = body.get("seed")
    if value is None:
        return None
    return _integer(body, "seed", 0, low=-(2**63), high=2**63 - 1)


def _stops(body: Body) -> tuple[str, ...]:
    value = body.get("stop")
    stops = [value] if isinstance(value, str) else value
    if stops is None:
        return ()
    if not isinstance(stops, list) or len(stops) > MAX_STOPS or not all(isinstance(s, str) for s in stops):
        raise bad_parameter("stop", f"stop must be a string or at most {MAX_STOPS} strings.")
    if any(not 0 < len(s) <= MAX_STOP_LENGTH for s in stops):
        raise bad_parameter("stop", f"a stop string has 1 to {MAX_STOP_LENGTH} characters.")
    return tuple(stops)


def _token_ids(body: Body, key: str, vocabulary: int, *, most: int) -> tuple[int, ...]:
    value = body.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > most or not all(_is_int(t) for t in value):
        raise bad_parameter(key, f"{key} must be at most {most} token ids.")
    return tuple(_check_ids(value, key, vocabulary))


def _check_ids(ids: list[int], key: str, vocabulary: int) -> list[int]:
    if any(not 0 <= t < vocabulary for t in ids):
        raise bad_parameter(key, f"{key} holds a token id outside 0 to {vocabulary - 1}.")
    return list(ids)


def _bias(body: Body, vocabulary: int) -> dict[int, float]:
    value = body.get("logit_bias")
    if value is None:
        return {}
    if not isinstance(value, dict) or len(value) > 1024:
        raise bad_parameter("logit_bias", "logit_bias must be an object of at most 1024 token ids.")
    bias: dict[int, float] = {}
    for key, amount in value.items():
        good = isinstance(amount, int | float) and not isinstance(amount, bool) and -100 <= amount <= 100
        if not re.fullmatch(r"\d{1,9}", str(key)) or int(key) >= vocabulary or not good:
            raise bad_parameter("logit_bias", "logit_bias maps token ids to numbers from -100 to 100.")
        bias[int(key)] = float(amount)
    return bias


def _pattern(given: Body, key: str, pattern: re.Pattern[str], words: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ApiError(400, "invalid_value", f"{key} must be {words}.", param=f"kv_transfer_params.{key}")
    return value
