"""Rotary embeddings in float64 straight from the papers' formulas; shares no code with the library.

Su et al. 2104.09864; linear scaling; YaRN 2309.00071; LongRoPE 2402.13753; Llama 3.1 model card.
"""

from __future__ import annotations

import math

import numpy as np


def frequencies(parameters: dict, dim: int, *, long: bool = False) -> np.ndarray:
    """Angle per position of each of the dim / 2 pairs, float64."""
    kind, theta = parameters.get("rope_type", "default"), parameters.get("rope_theta", 10000.0)
    plain = np.array([theta ** (-2 * i / dim) for i in range(dim // 2)], dtype=np.float64)
    if kind == "default":
        return plain
    if kind == "longrope":
        return plain / np.array(parameters["long_factor" if long else "short_factor"], dtype=np.float64)
    factor = parameters["factor"]
    if kind == "linear":
        return plain / factor
    old = parameters["original_max_position_embeddings"]
    if kind == "llama3":
        return np.array([_llama3(f, factor, old, parameters) for f in plain])
    return _yarn(plain, theta, factor, old, parameters, dim)


def scale(parameters: dict, context: int) -> float:
    """What cos and sin are multiplied with."""
    kind = parameters.get("rope_type", "default")
    if kind == "longrope":
        old = parameters["original_max_position_embeddings"]
        return math.sqrt(1 + math.log(context / old) / math.log(old))
    if kind != "yarn":
        return 1.0
    stretch = math.log(parameters["factor"])
    if "attention_factor" in parameters:
        return parameters["attention_factor"]
    if "mscale" in parameters:
        return (0.1 * parameters["mscale"] * stretch + 1) / (0.1 * parameters["mscale_all_dim"] * stretch + 1)
    return 0.1 * stretch + 1


def rotate(
    k: np.ndarray, positions: np.ndarray, turns: np.ndarray, size: float, *, interleaved: bool
) -> np.ndarray:
    """k [..., T, d] turned as complex numbers, float64; dimensions past the pairs pass."""
    pairs = len(turns)
    k = k.astype(np.float64)
    rotary, rest = k[..., : 2 * pairs], k[..., 2 * pairs :]
    if interleaved:
        z = rotary[..., 0::2] + 1j * rotary[..., 1::2]
    else:
        z = rotary[..., :pairs] + 1j * rotary[..., pairs:]
    z = size * z * np.exp(1j * positions.astype(np.float64)[:, None] * turns)
    out = np.empty_like(rotary)
    if interleaved:
        out[..., 0::2], out[..., 1::2] = z.real, z.imag
    else:
        out[..., :pairs], out[..., pairs:] = z.real, z.imag
    return np.concatenate([out, rest], axis=-1)


def pair_lengths(k: np.ndarray, pairs: int, *, interleaved: bool) -> np.ndarray:
    """Length of the pair each dimension of k [..., d] belongs to; its own size where it is not turned."""
    rotary, rest = k[..., : 2 * pairs], np.abs(k[..., 2 * pairs :])
    if interleaved:
        length = np.repeat(np.hypot(rotary[..., 0::2], rotary[..., 1::2]), 2, axis=-1)
    else:
        length = np.tile(np.hypot(rotary[..., :pairs], rotary[..., pairs:]), 2)
    return np.concatenate([length, rest], axis=-1)


def per_dimension(turns: np.ndarray, width: int, *, interleaved: bool) -> np.ndarray:
    """The frequency of each of `width` dimensions, zero where none is turned."""
    spread = np.repeat(turns, 2) if interleaved else np.tile(turns, 2)
    return np.concatenate([spread, np.zeros(width - len(spread))])


def _llama3(frequency: float, factor: float, old: int, parameters: dict) -> float:
    low, high = parameters["low_freq_factor"], parameters["high_freq_factor"]
    turns_in_context = old * frequency / (2 * math.pi)
    if turns_in_context > high:
        return frequency
    if turns_in_context < low:
        return frequency / factor
    mix = (turns_in_context - low) / (high - low)
    return (1 - mix) * frequency / factor + mix * frequency


def _yarn(plain: np.ndarray, theta: float, factor: float, old: int, parameters: dict, dim: int) -> np.ndarray:
    def pair_that_turns(times: float) -> float:
        return dim * math.log(old / (times * 2 * math.pi)) / (2 * math.log(theta))

    low = pair_that_turns(parameters.get("beta_fast", 32))
    high = pair_that_turns(parameters.get("beta_slow", 1))
    if parameters.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    ramp = np.clip((np.arange(dim // 2) - low) / max(high - low, 0.001), 0, 1)
    return plain / factor * ramp + plain * (1 - ramp)
