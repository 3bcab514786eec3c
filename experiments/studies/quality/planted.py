"""Outliers planted into a training by a schedule, so that their cause and beginning are given."""
import dataclasses

import torch

from precision import Precision


ALL_LAYERS = -1


@dataclasses.dataclass(frozen=True)
class Plant:
    """Growth by the factor 2^((step - onset) / doubling) from step `onset` on, in layer `layer`, or in all of
    them if it is ALL_LAYERS.

    "channel": one channel of the input of the FFN, with the column of weights that it meets divided by as
    much: exact products do not change. "qk": queries and keys, so that scores of attention grow by its square.
    "none": nothing."""

    kind: str = "none"
    onset: int = 0
    doubling: int = 1
    layer: int = 0
    channel: int = 0

    def factor(self, step: int) -> float:
        return 1.0 if self.kind == "none" else 2.0 ** (max(0, step - self.onset) / self.doubling)


class Planted(Precision):
    """Products of a scheme with a planted outlier. `step`: set by the training. Monitors also see the input
    of the FFN as its products get it."""

    def __init__(self, plant: Plant, *given, **named):
        super().__init__(*given, **named)
        self.plant, self.step = plant, 0

    def linear(self, where, x, weight):
        layer, name = where.split("/")
        grows = self.plant.layer in (ALL_LAYERS, int(layer))
        if name in ("up", "gate"):
            if grows and self.plant.kind == "channel":
                x, weight = self._with_channel(x, weight)
            if name == "up":
                self.see(f"{layer}/ffn_input", x)
        result = super().linear(where, x, weight)
        if grows and self.plant.kind == "qk" and name in ("q", "k"):
            return result * self.plant.factor(self.step)
        return result

    def _with_channel(self, x, weight):
        factors = torch.ones(x.shape[-1], device=x.device)
        factors[self.plant.channel] = self.plant.factor(self.step)
        return x * factors, weight / factors
