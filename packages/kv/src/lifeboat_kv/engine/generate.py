"""The two generating endpoints: from a request body to requests, and from events to an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aiohttp import web

from ..engine import schema
from .core import Engine
from .errors import ApiError, context_too_long, engine_failed, overloaded
from .prompts import encode_chat, encode_text
from .replies import Answer, Reply, closing_fields
from .sequence import DoneEvent, Event, FailedEvent, Request, SamplingOptions, TokenEvent
from .served_model import ServedModel

# Longer prompts than this are tokenised off the event loop.
INLINE_CHARACTERS = 16_384

Body = Mapping[str, Any]


@dataclass
class Call:
    """One HTTP call's requests and the events they have produced."""

    reply: Reply
    param: str
    events: asyncio.Queue[tuple[int, Event]] = field(default_factory=asyncio.Queue)
    answers: list[list[Answer]] = field(default_factory=list)
    done: dict[int, DoneEvent] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every prompt is answered."""
        return len(self.done) == len(self.answers)

    def take(self, prompt: int, event: Event) -> None:
        """Adds an event to the answers. Errors: ApiError 500 where the engine gave a request up."""
        if isinstance(event, FailedEvent):
            raise overloaded(event.message) if event.stopping else engine_failed(event.message)
        if isinstance(event, DoneEvent):
            self.done[prompt] = event
        else:
            self.answers[prompt][event.index].add(event)

    def closing(self) -> list[DoneEvent]:
        """The done events in order of prompts."""
        return [self.done[p] for p in range(len(self.answers))]


async def open_chat(engine: Engine, body: Body, request_id: str) -> Call:
    """Reads a chat body. Errors: ApiError."""
    model = engine.model(body.get("model"))
    prompt = await _off_loop(partial(encode_chat, model, body), len(str(body.get("messages"))))
    limit = _answer_limit(engine, model, len(prompt), "messages")
    max_tokens, param = schema.read_max_tokens(body, ("max_completion_tokens", "max_tokens"), limit)
    sampling = schema.read_sampling(
        body, model.facts["vocab_size"], max_tokens, schema.read_chat_logprobs(body)
    )
    given = any(body.get(key) is not None for key in ("max_completion_tokens", "max_tokens"))
    return _open(
        engine,
        model,
        body,
        [prompt],
        sampling,
        f"chatcmpl-{request_id}",
        True,
        param if given else "messages",
    )


async def open_completion(engine: Engine, body: Body, request_id: str) -> Call:
    """Reads a completion body. Errors: ApiError."""
    model = engine.model(body.get("model"))
    given = schema.read_prompts(body, model.facts["vocab_size"])
    special = body.get("add_special_tokens") is not False
    prompts: list[list[int]] = []
    for prompt in given:
        if isinstance(prompt, str):
            prompt = await _off_loop(partial(encode_text, model, prompt, special), len(prompt))
        if not prompt:
            raise schema.bad_parameter("prompt", "the prompt has no tokens.")
        prompts.append(prompt)
    max_tokens, param = schema.read_max_tokens(body, ("max_tokens",), 16)
    for prompt in prompts:
        _answer_limit(engine, model, len(prompt), "prompt")
    sampling = schema.read_sampling(
        body, model.facts["vocab_size"], max_tokens, schema.read_completion_logprobs(body)
    )
    return _open(engine, model, body, prompts, sampling, f"cmpl-{request_id}", False, param)


async def collect(engine: Engine, call: Call) -> dict[str, Any]:
    """Runs a call to its end and returns the body. Errors: ApiError."""
    try:
        while not call.complete:
            call.take(*await call.events.get())
    finally:
        _abandon(engine, call)
    return call.reply.body(call.answers, call.closing())


async def stream(engine: Engine, call: Call, request: web.Request) -> web.StreamResponse:
    """Runs a call, writing each token as it comes. A failed stream carries an error and no [DONE]."""
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
    )
    writer = StreamWriter(call, response, request.transport, engine.limits.write_seconds)
    try:
        batch = [await call.events.get()]
        if isinstance(batch[0][1], FailedEvent):
            call.take(*batch[0])
        await response.prepare(request)
        writer.open()
        while True:
            while not call.events.empty():
                batch.append(call.events.get_nowait())
            try:
                for prompt, event in batch:
                    writer.add(prompt, event)
            except ApiError as error:
                await writer.fail(error)
                return response
            if call.complete:
                await writer.close()
                return response
            await writer.flush()
            batch = [await call.events.get()]
    finally:
        _abandon(engine, call)


class StreamWriter:
    """Server-sent events of one call. The last object carries what only the end knows."""

    def __init__(
        self,
        call: Call,
        response: web.StreamResponse,
        transport: asyncio.Transport | None,
        limit: float,
    ) -> None:
        self._call = call
        self._transport = transport
        self._response = response
        self._limit = limit
        self._parts: list[bytes] = []
        self._held: dict[str, Any] | None = None
        self._told = False

    def open(self) -> None:
        """A chat stream starts with the role."""
        if self._call.reply.chat:
            self._push(self._call.reply.role_chunk())

    def add(self, prompt: int, event: Event) -> None:
        """Turns an event into a chunk. Errors: ApiError where the engine gave the request up."""
        call = self._call
        offset = len(call.answers[prompt][event.index].text) if isinstance(event, TokenEvent) else 0
        call.take(prompt, event)
        if not isinstance(event, TokenEvent):
            return
        choice = call.reply.token_choice(prompt, event, call.answers[prompt][event.index], offset)
        chunk = call.reply.chunk([choice])
        first = call.reply.requests[0]
        if first.transfer is not None and not self._told:
            # The gateway's headers leave with the first token: by then the transfer's outcome is known.
            chunk["kv_transfer_params"] = dict(first.kv or {})
            self._told = True
        self._let_go()
        if event.finish is None:
            self._push(chunk)
        else:
            self._held = chunk

    async def flush(self) -> None:
        """Sends what is ready. Errors: ConnectionError where the client does not read."""
        if not self._parts:
            return
        data, self._parts = b"".join(self._parts), []
        try:
            await asyncio.wait_for(self._response.write(data), self._limit)
        except TimeoutError as error:
            # Closing would wait for the client to read what is buffered; it has shown that it does not.
            if self._transport is not None:
                self._transport.abort()
            raise ConnectionResetError("the client does not read its stream") from error

    async def close(self) -> None:
        """The last object and the end mark."""
        call = self._call
        last = closing_fields(call.closing())
        if call.reply.options.include_usage:
            self._let_go()
            produced = sum(len(a.token_ids) for row in call.answers for a in row)
            self._held = call.reply.chunk([], usage=call.reply.usage(produced, call.closing()))
        if self._held is not None:
            self._held.update(last)
        self._let_go()
        self._parts.append(b"data: [DONE]\n\n")
        await self.flush()
        await self._response.write_eof()

    async def fail(self, error: ApiError) -> None:
        """Says what broke; without an end mark the stream cannot be taken for a whole one.

        The body ends properly: the headers promised a connection that lives on, and a client that sent
        its next request while this end closed it would get a reset instead of an answer.
        """
        self._parts.append(f"data: {json.dumps(error.body())}\n\n".encode())
        await self.flush()
        await self._response.write_eof()

    def _let_go(self) -> None:
        if self._held is not None:
            self._push(self._held)
            self._held = None

    def _push(self, chunk: dict[str, Any]) -> None:
        self._parts.append(
            f"data: {json.dumps(chunk, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()
        )


def _open(
    engine: Engine,
    model: ServedModel,
    body: Body,
    prompts: list[list[int]],
    sampling: SamplingOptions,
    reply_id: str,
    chat: bool,
    param: str,
) -> Call:
    options, n, orders = schema.read_reply(body), schema.read_n(body), schema.read_orders(body)
    if len(prompts) > 1 and (orders.stage or orders.transfer):
        raise schema.bad_parameter("kv_transfer_params", "kv_transfer_params goes with one prompt.")
    requests: list[Request] = []
    reply = Reply(reply_id, model.name, chat, options, model.names, requests, sampling.logprobs is not None)
    call = Call(reply, param, answers=[[Answer() for _ in range(n)] for _ in prompts])
    for p, prompt in enumerate(prompts):
        requests.append(
            Request(
                id=f"{reply_id}-{p}",
                model=model.name,
                prompt=prompt,
                sampling=sampling,
                emit=_into(call.events, p),
                n=n,
                salt=orders.salt,
                native_salt=orders.native_salt,
                stage=orders.stage,
                transfer=orders.transfer,
            )
        )
    engine.submit(requests, param)
    return call


def _into(events: asyncio.Queue[tuple[int, Event]], prompt: int) -> Callable[[Event], None]:
    return lambda event: events.put_nowait((prompt, event))


def _abandon(engine: Engine, call: Call) -> None:
    """Whoever leaves early leaves nothing running."""
    for p, request in enumerate(call.reply.requests):
        if p not in call.done:
            engine.loop.abort(request.id)


def _answer_limit(engine: Engine, model: ServedModel, prompt: int, param: str) -> int:
    """What an answer without max_tokens may have. Errors: ApiError where the prompt leaves no room."""
    room = model.max_model_len - prompt
    if room < 1:
        raise context_too_long(prompt, 1, model.max_model_len, param)
    return min(room, engine.limits.default_max_tokens)


async def _off_loop(work: Callable[[], list[int]], size: int) -> list[int]:
    return work() if size < INLINE_CHARACTERS else await asyncio.to_thread(work)
