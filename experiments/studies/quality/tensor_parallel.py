"""Tensor parallelism: each rank holds a part of the heads and of the FFN's columns, and the ranks'
partial results of the last two matmuls of a layer are summed by a simulated AllReduce."""
import dataclasses

import numpy as np
import torch
from torch.nn import functional

from models import Hooks, Shape
from store import QualityError
from sums import all_reduced


@dataclasses.dataclass(frozen=True)
class Way:
    """Configuration of the sums: a format of equarx, and options of its AllReduce."""

    name: str
    format: str
    options: dict = dataclasses.field(default_factory=dict)
    sends: str = "bf16"  # type of the partial sums


def check_divides(shape: Shape, ranks: int) -> None:
    for what, count in (("heads", shape.heads), ("columns of the FFN", shape.inner)):
        if count % ranks:
            raise QualityError(f"{count} {what} do not divide over {ranks} ranks; use a number of ranks that does")


def tails_of(exact: torch.Tensor, error: torch.Tensor) -> dict[str, float]:
    """Heaviness of a sum's tails, and the shares of the squared error in the worst 1 % of tokens
    and in the worst channel."""
    by_token, by_channel = error.sum(-1).flatten(), error.flatten(0, 1).sum(0)
    worst = by_token.topk(max(1, len(by_token) // 100)).values.sum()
    return {"kurtosis": float(exact.pow(4).mean() / exact.square().mean() ** 2),
            "largest_of_rms": float(exact.abs().max() / exact.square().mean().sqrt()),
            "error_in_worst_tokens": float(worst / error.sum()),
            "error_in_worst_channel": float(by_channel.max() / error.sum())}


class Parallel(Hooks):
    """Sums partial results by AllReduces, and records their errors. `only`: the single place that
    is quantized."""

    def __init__(self, shape: Shape, ranks: int, way: Way, only: str | None = None):
        check_divides(shape, ranks)
        self.ranks, self.way, self.only = ranks, way, only
        self.errors: dict[str, list[float]] = {}
        self.tails: dict[str, dict[str, float]] = {}  # of the first sum in each place

    def row_parallel(self, where, x, weight):
        if self.ranks == 1:
            return functional.linear(x, weight)
        columns = x.shape[-1] // self.ranks
        parts = [functional.linear(part, piece) for part, piece in zip(x.split(columns, -1), weight.split(columns, 1))]
        partial = torch.stack(parts)
        if self.only is not None and where != self.only:
            return partial.sum(0)
        return self.summed(where, partial)

    def summed(self, where: str, partial: torch.Tensor) -> torch.Tensor:
        """partial: [ranks, sequences, positions, width]."""
        brought = partial if self.way.sends == "fp32" else partial.bfloat16()
        total, _ = all_reduced(brought, self.way.format, **self.way.options)
        exact = partial.double().sum(0)
        error = (total.double() - exact).square()
        self.errors.setdefault(where, []).append(float(error.sum() / exact.square().sum()))
        if where not in self.tails:
            self.tails[where] = tails_of(exact, error)
        return total

    def nmse(self) -> float:
        """Mean over all sums of FP32 inputs."""
        return float(np.mean([value for values in self.errors.values() for value in values])) if self.errors else 0.0
