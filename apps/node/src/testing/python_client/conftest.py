"""The official `openai` client for Python, pointed at the gateway that the environment names."""

from __future__ import annotations

import os
from collections.abc import Iterator

import openai
import pytest


@pytest.fixture
def client() -> Iterator[openai.OpenAI]:
    """A client without retries, so that every refusal is seen."""
    url, key = os.environ["HELM_TEST_URL"], os.environ["HELM_TEST_KEY"]
    with openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=120) as made:
        yield made


def say(content: str) -> list[dict[str, str]]:
    """A conversation of one message."""
    return [{"role": "user", "content": content}]
