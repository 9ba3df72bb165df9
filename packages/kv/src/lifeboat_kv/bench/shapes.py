"""The shapes that are measured, how many operations they take, and what others have published for them."""

from __future__ import annotations

from dataclasses import dataclass

GEMM_SIDE = 4096
LENGTHS = (64, 512, 2048, 8192, 32768)


@dataclass(frozen=True)
class PairShape:
    """Two models as a mapper sees them; both have `heads` KV heads of `dim`."""

    name: str
    source_layers: int
    target_layers: int
    heads: int
    dim: int
    k: int
    # tokens -> (target's prefill, transfer) in ms, and what they were measured on (CALIBRATION.md).
    published: dict[int, tuple[float, float]]
    published_on: str

    @property
    def width(self) -> int:
        """Features of a layer."""
        return self.heads * self.dim

    def sources_of(self, layer: int) -> tuple[int, ...]:
        """k source layers next to each other, at the target layer's relative depth."""
        middle = layer * self.source_layers // self.target_layers
        first = min(max(0, middle - self.k // 2), self.source_layers - self.k)
        return tuple(range(first, first + self.k))


SMALL = PairShape(
    "Qwen3-0.6B -> 1.7B",
    source_layers=28,
    target_layers=28,
    heads=8,
    dim=128,
    k=4,
    published={512: (36, 11), 2048: (103, 26), 8192: (414, 91), 16384: (968, 179)},
    published_on="MI210",
)
LARGE = PairShape(
    "Qwen3-14B -> 32B",
    source_layers=40,
    target_layers=64,
    heads=8,
    dim=128,
    k=8,
    published={64: (61.7, 14.0), 8192: (1154.8, 67.8), 32768: (6975.3, 277.6)},
    published_on="8xH100",
)


@dataclass(frozen=True)
class DecoderShape:
    """A Qwen3 decoder, for what a prefill costs."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int


QWEN3_1_7B = DecoderShape(28, 2048, 16, 8, 128, 6144)
QWEN3_14B = DecoderShape(40, 5120, 40, 8, 128, 17408)
QWEN3_32B = DecoderShape(64, 5120, 64, 8, 128, 25600)


def gemm_flops(side: int) -> int:
    """A product of two square matrices."""
    return 2 * side**3


def moments_flops(rows: int, leading: int, trailing: int = 0) -> int:
    """What the scatter of `leading` columns, and theirs with `trailing` more, needs: one triangle.

    Only what has to be computed counts, so that doing a symmetric product in full is no merit.
    """
    return rows * leading * (leading + 1) + 2 * rows * leading * trailing


def map_flops(shape: PairShape, tokens: int, layers: int, *, head_local: bool) -> int:
    """Keys and values of `layers` target layers; rotations and the rest count as overhead, not as work."""
    inner = shape.k * (shape.dim if head_local else shape.width)
    return 2 * 2 * tokens * inner * shape.width * layers


def share(flops: float, seconds: float, rate: float) -> float:
    """Part of `rate` [operations a second] that `flops` done in `seconds` reach."""
    return flops / seconds / rate
