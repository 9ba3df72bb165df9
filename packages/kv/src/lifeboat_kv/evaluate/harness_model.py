"""A hand-over as a model of lm-evaluation-harness. The one module here that imports the harness's API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import TemplateLM

from ..errors import CorpusError, UsageError
from .hand_over import HandOver, Tokens, mapped_rows
from .prefix_perplexity import LONGEST_WINDOW, chunks, split_text

_DEFAULT_ANSWER = 256


class HarnessModel(TemplateLM):
    """Pilot, target or the target on a transferred cache, as `hand_over` has it.

    `loglikelihood` and `generate_until` are the harness's own definitions. `loglikelihood_rolling` is
    *prefix perplexity* (see prefix_perplexity.py): it gives the log-likelihood of the text's second part.
    Greedy only. `moved[task]` counts the context tokens and those that came through the mapper.
    """

    def __init__(
        self,
        hand_over: HandOver,
        tokenizer: Any,
        ends: frozenset[int],
        *,
        longest: int,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        """`longest` is the context in tokens; `progress` is told requests done and to be done."""
        super().__init__()
        self.hand_over = hand_over
        self.tokenizer = tokenizer
        self.ends = ends
        self.longest = longest
        self.moved: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self._progress = progress
        self._done = self._total = 0

    @property
    def eot_token_id(self) -> int:
        return int(self.tokenizer.eos_token_id)

    @property
    def prefix_token_id(self) -> int:
        first = self.tokenizer.bos_token_id
        return self.eot_token_id if first is None else int(first)

    @property
    def tokenizer_name(self) -> str:
        return str(getattr(self.tokenizer, "name_or_path", "")).replace("/", "__")

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        return self.tokenizer.apply_chat_template(
            chat_history, tokenize=False, add_generation_prompt=add_generation_prompt
        )

    def tok_encode(self, string: str, add_special_tokens: bool | None = None, **_: Any) -> list[int]:
        if add_special_tokens is None:
            first = self.tokenizer.bos_token
            add_special_tokens = not (first and string.startswith(first))
        return self.tokenizer(string, add_special_tokens=add_special_tokens)["input_ids"]

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        self._expect(len(requests))
        pairs = [self._pair(*request.args) for request in requests]
        return self._score(pairs, [str(request.task_name) for request in requests])

    def _loglikelihood_tokens(self, requests: list[Any], **_: Any) -> list[tuple[float, bool]]:
        pairs = [self._fitted(tuple(context), tuple(wanted)) for _, context, wanted in requests]
        return self._score(pairs, [""] * len(pairs))

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """Log-likelihood of the second part of each text after the first; see prefix_perplexity.py."""
        self._expect(len(requests))
        found = []
        for request in requests:
            try:
                prefix, rest = self._encode_pair(*split_text(request.args[0]))
                if self.tokenizer.bos_token_id is not None and prefix[:1] != [self.prefix_token_id]:
                    prefix = [self.prefix_token_id, *prefix]
                pairs = chunks(prefix, rest, min(self.longest, LONGEST_WINDOW))
            except ValueError as error:
                raise CorpusError("DOCUMENT_TOO_SHORT", f"{request.task_name}: {error}") from error
            tasks = [str(request.task_name)] * len(pairs)
            found.append(sum(value for value, _ in self._score(pairs, tasks, silent=True)))
            self._answered(1)
        return found

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        self._expect(len(requests))
        contexts: list[Tokens] = []
        budgets, stops = [], []
        for request in requests:
            text, options = request.args
            stops.append(self._stops(options))
            budgets.append(int(options.get("max_gen_toks") or options.get("max_tokens") or _DEFAULT_ANSWER))
            room = max(1, self.longest - budgets[-1])
            tokens = self.tok_encode(text) or [self.prefix_token_id]
            contexts.append(tuple(tokens[-room:]))
            self._moved(str(request.task_name), contexts[-1])

        def ended(index: int, tokens: list[int]) -> bool:
            if tokens[-1] in self.ends:
                return True
            return bool(stops[index]) and any(stop in self._text(tokens) for stop in stops[index])

        answers = self.hand_over.generate(contexts, budgets, ended, self._answered)
        return [_before(self._text(tokens), until) for tokens, until in zip(answers, stops, strict=True)]

    def _text(self, tokens: list[int]) -> str:
        kept = tokens[:-1] if tokens and tokens[-1] in self.ends else tokens
        return self.tokenizer.decode(kept, skip_special_tokens=False, clean_up_tokenization_spaces=False)

    def _stops(self, options: dict[str, Any]) -> list[str]:
        if options.get("do_sample") or float(options.get("temperature") or 0.0) > 0.0:
            raise UsageError("GREEDY_ONLY", "tasks that sample cannot be compared; choose greedy ones")
        until = options.get("until") or []
        return [until] if isinstance(until, str) else [stop for stop in until if stop]

    def _pair(self, context: str, continuation: str) -> tuple[Tokens, Tokens]:
        if context:
            first, second = self._encode_pair(context, continuation)
        else:
            first, second = [], self.tok_encode(continuation, add_special_tokens=False)
        if not first:
            first = [self.prefix_token_id]
        return self._fitted(tuple(first), tuple(second))

    def _fitted(self, context: Tokens, wanted: Tokens) -> tuple[Tokens, Tokens]:
        """What fits the model's context: the beginning of the context gives way, as in the harness."""
        room = self.longest - len(wanted)
        if not wanted or room < 1:
            raise CorpusError(
                "DOCUMENT_TOO_LONG",
                f"a continuation of {len(wanted)} tokens does not fit a context of {self.longest}",
            )
        return context[-room:], wanted

    def _score(
        self, pairs: list[tuple[Tokens, Tokens]], tasks: list[str], silent: bool = False
    ) -> list[tuple[float, bool]]:
        for (context, _), task in zip(pairs, tasks, strict=True):
            self._moved(task, context)
        answered = (lambda _: None) if silent else self._answered
        return self.hand_over.loglikelihoods(pairs, answered)

    def _moved(self, task: str, context: Tokens) -> None:
        self.moved[task][0] += len(context)
        self.moved[task][1] += mapped_rows(context) if self.hand_over.mapper is not None else 0

    def _expect(self, count: int) -> None:
        self._total += count
        self._progress(self._done, self._total)

    def _answered(self, count: int) -> None:
        self._done += count
        if count:
            self._progress(self._done, self._total)


def _before(text: str, stops: list[str]) -> str:
    """`text` up to the first of `stops`."""
    return text[: min((at for at in map(text.find, stops) if at >= 0), default=len(text))]
