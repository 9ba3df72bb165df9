"""Centred second moments in one pass: everything ridge, layer choice and held-out R2 need.

Rows wait in a float32 buffer, shifted and weighted, until there are enough of them to be worth a
matrix product; products go into float64 with the pairwise update of Chan, Golub and LeVeque (1983),
so that no large mean is ever squared. For rows x of weight w, a shift c and z = sqrt(w) (x - c), with
r = sum w (x - c) / n what the shift missed: the rows' mean is c + r, their scatter z'z - n r r'.
A scatter is symmetric: blocks below its diagonal are not computed, they are mirrored when it is read.

Memory: 8 D^2 bytes, and while rows wait a buffer of at most 4 D BUFFER_ROWS bytes; work space while
they are taken in is 4 D BLOCK bytes and one panel. None of it grows with the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from ..errors import NumericsError
from ..host.precision import exact_float32

# Adding a product to float64 costs as much for few rows as for many: with this many it is a few percent.
BUFFER_ROWS = 4096
# Side of the blocks on the diagonal, half of which is computed for nothing, and most of any other block:
# on a CPU its product stays in the cache until it is added; a GPU wants fewer, larger launches.
BLOCK, PANEL = 256, 1024
_GPU_BLOCK, _GPU_PANEL = 2048, 8192


class Moments:
    """Weight sum `n`, `mean` [D] and centred `scatter` [L, D], float64, of joint rows.

    L is D, or fewer: columns from L on are only ever fitted onto the first L. Of those, what two of them
    have in common is neither computed nor held, except for the `diagonal` [D].
    Reading `mean` or `scatter` takes in what waits. For one thread at a time.
    """

    def __init__(self, n: float, mean: Tensor, scatter: Tensor, trailing: Tensor | None = None) -> None:
        """Takes the tensors over: they are changed in place. `trailing` [D - L] ends the diagonal."""
        self._n, self._mean, self._scatter = n, mean, scatter
        self._trailing = mean.new_zeros(len(mean) - len(scatter)) if trailing is None else trailing
        self._mirrored = True
        self._buffer: Tensor | None = None
        self._start_buffer()

    @classmethod
    def empty(cls, width: int, device: torch.device | str = "cpu", *, leading: int | None = None) -> Moments:
        """No rows of `width` columns yet, the scatter of the first `leading` (all) of them; float64."""
        return cls(
            0.0,
            torch.zeros(width, dtype=torch.float64, device=device),
            torch.zeros(width if leading is None else leading, width, dtype=torch.float64, device=device),
        )

    @property
    def n(self) -> float:
        """The sum of all weights."""
        return self._n + self._weight

    @property
    def mean(self) -> Tensor:
        """[D]. Errors: as `settle`."""
        self.settle()
        return self._mean

    @property
    def scatter(self) -> Tensor:
        """[L, D], the weighted sum of (x - mean)(x - mean)'. Errors: as `settle`."""
        self.settle()
        if not self._mirrored:
            _mirror(self._scatter)
            self._mirrored = True
        return self._scatter

    @property
    def diagonal(self) -> Tensor:
        """[D], the weighted sum of (x - mean)^2 of every column. Errors: as `settle`."""
        self.settle()
        return torch.cat([self._scatter.diagonal(), self._trailing])

    def add(self, rows: Tensor, weights: Tensor | None = None) -> None:
        """Takes in rows [N, D] float32, weighted by `weights` [N] >= 0 (all one by default).

        Errors: NumericsError NON_FINITE_STATISTICS, before anything is changed.
        """
        if rows.shape[0] > BUFFER_ROWS:
            _refuse_non_finite(rows.sum())
            for start in range(0, rows.shape[0], BUFFER_ROWS):
                part = slice(start, start + BUFFER_ROWS)
                self.add(rows[part], None if weights is None else weights[part])
            return
        if rows.shape[0] == 0:
            return
        if rows.dtype not in (torch.float32, torch.float64):
            rows = rows.float()
        if rows.shape[0] > BUFFER_ROWS - self._waiting:
            self.settle()
        self._take(rows, weights)

    def merge(self, other: Moments, scale: float = 1.0) -> None:
        """Takes in all rows of `other`, each with its weight times `scale`."""
        other.settle()
        if other._n > 0 and scale != 0:
            self.settle()
            self._join(
                other._n * scale,
                other._mean,
                lambda rows, columns: other._scatter[rows, columns] * scale,
                other._trailing * scale,
            )

    def copy(self) -> Moments:
        """An independent copy."""
        return Moments(self.n, self.mean.clone(), self.scatter.clone(), self._trailing.clone())

    def settle(self) -> None:
        """Multiplies the rows that wait and adds them to the scatter.

        Errors: NumericsError NON_FINITE_STATISTICS where finite rows are too large to be squared in
        float32; they keep waiting, and what was taken in before is as it was.
        """
        if self._waiting == 0:
            return
        z = self._buffer[: self._waiting]
        residue = self._shifted_sum / self._weight
        with exact_float32():
            # The diagonal comes first: a sum of squares is what overflows, if anything does.
            lead = len(self._scatter)
            squares = {r.start: z[:, r].T @ z[:, r] for r, c in self._blocks() if r == c}
            trailing = z[:, lead:].square().sum(dim=0)
            sums = [square.diagonal().sum() for square in squares.values()]
            _refuse_non_finite(torch.stack([*sums, trailing.sum()]))

            # One room for all products: pages of a fresh one for each would cost as much as adding it.
            room = z.new_empty(min(self._panel, len(self._scatter)) * min(self._panel, z.shape[1]))

            def product(rows: slice, columns: slice) -> Tensor:
                if rows == columns:
                    return squares[rows.start]
                size = rows.stop - rows.start, columns.stop - columns.start
                return torch.mm(z[:, rows].T, z[:, columns], out=room[: size[0] * size[1]].view(size))

            self._join(self._weight, self._shift.double() + residue, product, trailing, residue)
        self._start_buffer()

    def _take(self, rows: Tensor, weights: Tensor | None) -> None:
        """Writes rows that fit behind those that wait."""
        if self._buffer is None:
            self._buffer = rows.new_empty(BUFFER_ROWS, rows.shape[1], dtype=torch.float32)
        z = self._buffer[self._waiting : self._waiting + rows.shape[0]]
        shift = self._shift
        if self._waiting == 0:
            # A buffer is shifted by the mean of its first rows: near enough that no digits are lost.
            shift = (torch.mv(rows.T, rows.new_ones(len(rows))) / len(rows)).float()
        torch.sub(rows, shift, out=z)
        if weights is None:
            weight, root = float(rows.shape[0]), z.new_ones(rows.shape[0])
        else:
            weight, root = float(weights.sum(dtype=torch.float64)), weights.to(z).sqrt()
            z.mul_(root[:, None])
        sums = torch.mv(z.T, root)
        # A sum over a column is finite only if all its rows are: no pass of its own for the check.
        _refuse_non_finite(sums)
        self._shift = shift
        self._shifted_sum += sums
        self._waiting += rows.shape[0]
        self._weight += weight

    def _start_buffer(self) -> None:
        self._waiting, self._weight = 0, 0.0
        self._shift = self._mean.float()
        self._shifted_sum = torch.zeros_like(self._mean)

    def _join(
        self,
        n: float,
        mean: Tensor,
        scatter: Callable[[slice, slice], Tensor],
        trailing: Tensor,
        missed: Tensor | None = None,
    ) -> None:
        """Chan's update with rows of weight `n` and `mean`, block by block.

        `scatter(rows, columns)` gives a block of theirs and `trailing` the end of their diagonal, about
        their mean or, with `missed` [D], about a point that lies that much below it.
        """
        total = self._n + n
        delta = mean - self._mean
        left, right = [delta * (self._n * n / total)], [delta]
        if missed is not None:
            left, right = [*left, missed * -n], [*right, missed]
        left, right = torch.stack(left, dim=1), torch.stack(right)
        for rows, columns in self._blocks():
            block = self._scatter[rows, columns]
            block += scatter(rows, columns)
            block.addmm_(left[rows], right[:, columns])
        lead = len(self._scatter)
        self._trailing += trailing + (left[lead:] * right[:, lead:].T).sum(dim=1)
        self._mean += delta * (n / total)
        self._n = total
        self._mirrored = False

    @property
    def _panel(self) -> int:
        return PANEL if self._scatter.device.type == "cpu" else _GPU_PANEL

    def _blocks(self) -> Iterator[tuple[slice, slice]]:
        return _blocks(*self._scatter.shape, self._scatter.device)


def _blocks(height: int, width: int, device: torch.device) -> Iterator[tuple[slice, slice]]:
    """(rows, columns) of the blocks that cover everything on and above the diagonal."""
    block, panel = (BLOCK, PANEL) if device.type == "cpu" else (_GPU_BLOCK, _GPU_PANEL)
    yield from _triangle(0, height, block, panel)
    yield from _rectangle(slice(0, height), slice(height, width), panel)


def _triangle(start: int, stop: int, block: int, panel: int) -> Iterator[tuple[slice, slice]]:
    """Halves the triangle until what would be computed twice is one block wide."""
    if stop - start <= block:
        yield slice(start, stop), slice(start, stop)
        return
    middle = start + block * -(-(stop - start) // (2 * block))
    yield from _triangle(start, middle, block, panel)
    yield from _rectangle(slice(start, middle), slice(middle, stop), panel)
    yield from _triangle(middle, stop, block, panel)


def _rectangle(rows: slice, columns: slice, panel: int) -> Iterator[tuple[slice, slice]]:
    for top in range(rows.start, rows.stop, panel):
        for left in range(columns.start, columns.stop, panel):
            yield slice(top, min(top + panel, rows.stop)), slice(left, min(left + panel, columns.stop))


def _mirror(scatter: Tensor) -> None:
    """Copies what is above the diagonal below it, in place."""
    for rows, columns in _blocks(len(scatter), len(scatter), scatter.device):
        if rows == columns:
            square = scatter[rows, columns].triu()
            scatter[rows, columns] = square + square.triu(1).T
        else:
            scatter[columns, rows] = scatter[rows, columns].T


def _refuse_non_finite(found: Tensor) -> None:
    if not torch.isfinite(found).all():
        raise NumericsError("NON_FINITE_STATISTICS", "a model gave keys or values that are not finite")
