"""Errors a client may see: an HTTP status, a stable code, one sentence, and the parameter at fault."""

from __future__ import annotations

from typing import Any


class ApiError(Exception):
    """An expected refusal, answered as `{"error": {message, type, param, code}}` with `status`."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        kind: str = "invalid_request_error",
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.kind = kind
        self.param = param

    def body(self) -> dict[str, Any]:
        """The JSON object a client gets."""
        return {"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}}


def bad_parameter(param: str, message: str, code: str = "invalid_value") -> ApiError:
    """400 that names the parameter."""
    return ApiError(400, code, message, param=param)


def model_not_found(name: str) -> ApiError:
    """404 for a model this engine does not serve."""
    return ApiError(
        404, "model_not_found", f"The model {name!r} does not exist.", kind="NotFoundError", param="model"
    )


def context_too_long(prompt: int, answer: int, limit: int, param: str) -> ApiError:
    """400 for a prompt that cannot fit the model's context together with the answer asked for."""
    return ApiError(
        400,
        "context_length_exceeded",
        f"This model's maximum context length is {limit} tokens. However, you requested "
        f"{prompt + answer} tokens ({prompt} in the prompt, {answer} for the answer).",
        param=param,
    )


def overloaded(message: str) -> ApiError:
    """503 for a full queue or an engine that is draining."""
    return ApiError(503, "overloaded", message, kind="overloaded_error")


def engine_failed(message: str = "The engine failed while working on this request.") -> ApiError:
    """500 without its inside; the log has the cause."""
    return ApiError(500, "engine_error", message, kind="internal_error")
