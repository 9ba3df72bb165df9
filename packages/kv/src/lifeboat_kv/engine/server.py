"""The HTTP server: routes, body limits, typed errors, start and drain."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from .. import __version__
from ..engine import generate
from .core import ENGINE_NAME, Engine
from .errors import ApiError, engine_failed
from .mappers import SHA256, MapperRefusedError, summary
from .memory_report import report_memory
from .prompts import encode_chat, encode_text
from .scrape import render_metrics
from .served_model import ServedModel

log = logging.getLogger(__name__)

BODY_SECONDS = 30.0
REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
ENGINE_KEY: web.AppKey[Engine] = web.AppKey("engine", Engine)
ID_KEY: web.RequestKey[str] = web.RequestKey("id", str)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def make_app(engine: Engine) -> web.Application:
    """The application over a started or startable engine."""
    app = web.Application(client_max_size=engine.limits.body, middlewares=[_guard])
    app[ENGINE_KEY] = engine
    app.add_routes(
        [
            web.get("/health", health),
            web.get("/version", version),
            web.get("/metrics", metrics),
            web.get("/v1/models", list_models),
            web.get("/v1/models/{name:.+}", show_model),
            web.post("/tokenize", tokenize),
            web.post("/v1/completions", completions),
            web.post("/v1/chat/completions", chat_completions),
            web.get("/helm/memory", memory),
            web.get("/helm/mappers", list_mappers),
            web.put("/helm/mappers/{sha256}", load_mapper),
            web.delete("/helm/mappers/{sha256}", drop_mapper),
        ]
    )
    app.on_startup.append(_sweeping)
    return app


async def health(request: web.Request) -> web.Response:
    """200 while the step loop runs and nothing drains."""
    engine = request.app[ENGINE_KEY]
    good = engine.loop.alive and not engine.draining
    return web.json_response({"status": "ok" if good else "draining"}, status=200 if good else 503)


async def version(_: web.Request) -> web.Response:
    """What this engine is."""
    return web.json_response({"version": __version__, "engine": ENGINE_NAME})


async def metrics(request: web.Request) -> web.Response:
    """Prometheus text."""
    return web.Response(
        text=render_metrics(request.app[ENGINE_KEY]), content_type="text/plain", charset="utf-8"
    )


async def list_models(request: web.Request) -> web.Response:
    """Served models, in OpenAI's list shape with what this engine measured."""
    engine = request.app[ENGINE_KEY]
    data = [_model_card(engine, model) for model in engine.models.values()]
    return web.json_response({"object": "list", "data": data, "engine": ENGINE_NAME, "version": __version__})


async def show_model(request: web.Request) -> web.Response:
    """One served model."""
    engine = request.app[ENGINE_KEY]
    return web.json_response(_model_card(engine, engine.model(request.match_info["name"])))


def _model_card(engine: Engine, model: ServedModel) -> dict[str, Any]:
    return {
        "id": model.name,
        "object": "model",
        "created": engine.started,
        "owned_by": ENGINE_NAME,
        "root": model.facts["id"],
        "parent": None,
        "max_model_len": model.max_model_len,
        "engine": ENGINE_NAME,
        "dtype": str(model.shape.dtype).removeprefix("torch."),
        "device": str(model.device),
        "development": engine.development,
        "weights_sha256": model.facts["weights_sha256"],
        "tokenizer": model.facts["tokenizer"],
        "default_max_tokens": engine.limits.default_max_tokens,
        "max_batch": engine.limits.max_batch,
    }


async def tokenize(request: web.Request) -> web.Response:
    """Token ids of a prompt or of messages, as vLLM answers."""
    body = await _body(request)
    model = request.app[ENGINE_KEY].model(body.get("model"))
    if "messages" in body:
        ids = await asyncio.to_thread(encode_chat, model, body)
    elif isinstance(body.get("prompt"), str):
        special = body.get("add_special_tokens") is not False
        ids = await asyncio.to_thread(encode_text, model, body["prompt"], special)
    else:
        raise ApiError(400, "invalid_value", "give a prompt (text) or messages.", param="prompt")
    names = model.tokenizer.convert_ids_to_tokens(ids) if body.get("return_token_strs") is True else None
    return web.json_response(
        {"count": len(ids), "max_model_len": model.max_model_len, "tokens": ids, "token_strs": names}
    )


async def completions(request: web.Request) -> web.StreamResponse:
    """`/v1/completions`."""
    return await _answer(request, generate.open_completion)


async def chat_completions(request: web.Request) -> web.StreamResponse:
    """`/v1/chat/completions`."""
    return await _answer(request, generate.open_chat)


async def memory(request: web.Request) -> web.Response:
    """Measured bytes."""
    return web.json_response(await asyncio.to_thread(report_memory, request.app[ENGINE_KEY]))


async def list_mappers(request: web.Request) -> web.Response:
    """Mappers resident, in host memory, loading and refused."""
    return web.json_response({"mappers": request.app[ENGINE_KEY].mappers.list()})


async def load_mapper(request: web.Request) -> web.Response:
    """Reads and checks a mapper; answers its summary, or the fallback code that stands in its way."""
    store = request.app[ENGINE_KEY].mappers
    try:
        resident = await asyncio.wrap_future(store.load(_sha256(request)))
    except MapperRefusedError as error:
        raise ApiError(422, error.code, error.message, kind="mapper_error", param="sha256") from error
    return web.json_response(summary(resident, "resident"))


async def drop_mapper(request: web.Request) -> web.Response:
    """Takes a mapper out of memory."""
    sha256 = _sha256(request)
    return web.json_response({"sha256": sha256, "dropped": request.app[ENGINE_KEY].mappers.drop(sha256)})


async def _answer(
    request: web.Request, opener: Callable[[Engine, Any, str], Awaitable[generate.Call]]
) -> web.StreamResponse:
    engine = request.app[ENGINE_KEY]
    call = await opener(engine, await _body(request), request[ID_KEY])
    if call.reply.options.stream:
        return await generate.stream(engine, call, request)
    return web.json_response(await generate.collect(engine, call))


async def _body(request: web.Request) -> dict[str, Any]:
    """The JSON object of a request. Errors: ApiError 400, 408, 413."""
    try:
        raw = await asyncio.wait_for(request.read(), BODY_SECONDS)
    except TimeoutError as error:
        raise ApiError(408, "timeout", "The request body did not arrive in time.") from error
    try:
        body = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, "invalid_json", "The request body is not valid JSON.") from error
    if not isinstance(body, dict):
        raise ApiError(400, "invalid_json", "The request body must be a JSON object.")
    return body


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _sha256(request: web.Request) -> str:
    value = request.match_info["sha256"]
    if not SHA256.fullmatch(value):
        raise ApiError(400, "invalid_value", "a mapper is named by 64 hexadecimal digits.", param="sha256")
    return value


@web.middleware
async def _guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Gives every request an id and every failure a typed body."""
    given = request.headers.get("x-request-id", "")
    # The caller's id is echoed; the engine's own stays unique, or an abort could hit another call.
    request[ID_KEY] = uuid.uuid4().hex
    shown = given if REQUEST_ID.fullmatch(given) else request[ID_KEY]
    try:
        response = await handler(request)
    except ApiError as error:
        response = web.json_response(error.body(), status=error.status)
    except web.HTTPRequestEntityTooLarge:
        limit = request.app[ENGINE_KEY].limits.body
        error = ApiError(413, "body_too_large", f"A request body has at most {limit} bytes.")
        response = web.json_response(error.body(), status=413)
    except web.HTTPException as error:
        refused = ApiError(error.status, "http_error", error.reason or "The request cannot be served.")
        response = web.json_response(refused.body(), status=error.status)
    except (ConnectionError, asyncio.CancelledError):
        raise
    except Exception:
        log.exception("request %s failed", shown)
        response = web.json_response(engine_failed().body(), status=500)
    if not response.prepared:
        response.headers["x-request-id"] = shown
    return response


async def _sweeping(app: web.Application) -> None:
    """Frees staged caches as they expire, whether or not anyone asks for them."""
    engine = app[ENGINE_KEY]

    async def sweep() -> None:
        while True:
            await asyncio.sleep(0.25)
            engine.staging.sweep()

    task = asyncio.create_task(sweep())

    async def end(_: web.Application) -> None:
        task.cancel()

    app.on_cleanup.append(end)
