"""Training of all models here: AdamW, a warm-up, a cosine, gradients clipped to a norm of 1; the
same batches for the same seed."""
import dataclasses
import math

import torch

from corpus import Corpus
from models import Hooks, Model, Shape, losses


@dataclasses.dataclass(frozen=True)
class Schedule:
    """Steps and their contents: `sequences` of `length` characters in each, over all ranks.
    `doubling`, if above 0: the rate doubles in so many steps without end, and gradients are not
    clipped, so that every training diverges."""

    steps: int = 300
    sequences: int = 16
    length: int = 128
    rate: float = 2e-3
    held_out: int = 32
    every: int = 10  # steps between evaluations on the held-out text
    doubling: int = 0

    def rate_at(self, step: int) -> float:
        if self.doubling:
            return self.rate * 2.0 ** (step / self.doubling)
        warm_up = max(1, self.steps // 20)
        if step < warm_up:
            return self.rate * (step + 1) / warm_up
        return self.rate * (0.1 + 0.45 * (1 + math.cos(math.pi * (step - warm_up) / (self.steps - warm_up))))


# For studies that train many models: 150 steps of 1,024 characters.
SHORT = Schedule(steps=150, sequences=8)


class NotFinite(Exception):
    """The loss is not a number any more."""


def first_not_finite(model: Model, tokens: torch.Tensor, hooks: Hooks) -> str:
    """The place of the forward pass's first non-finite value, and the values that do not fit its
    format."""
    if hooks.overflow:  # a repeated pass might not overflow: its scales include the value by then
        return hooks.overflow
    found = []

    class Looks(Hooks):
        linear, matmul, row_parallel = hooks.linear, hooks.matmul, hooks.row_parallel

        def see(self, where, x):
            if not found and not torch.isfinite(x).all():
                found.append(where)

    with torch.no_grad():
        model(tokens, Looks())
    return found[0] if found else "head"


class Trainer:
    """A training in progress. Gradients are computed by `gradients(model, tokens)`, by default of
    all sequences at once."""

    def __init__(self, shape: Shape, schedule: Schedule, corpus: Corpus, seed: int, hooks: Hooks | None = None,
                 device: str = "cpu"):
        self.model = Model(shape, seed).to(device)
        self.schedule, self.corpus, self.hooks, self.device = schedule, corpus, hooks or Hooks(), device
        self.batches = torch.Generator().manual_seed(1000 + seed)
        self.adam = torch.optim.AdamW(self.model.parameters(), lr=schedule.rate, betas=(0.9, 0.95), weight_decay=0.1)
        if own := self.hooks.prepare(self.model):
            self.adam.add_param_group({"params": own, "weight_decay": 0.0})
        self.held_out = corpus.sequences(schedule.held_out, schedule.length)
        self.step = 0

    def state(self) -> dict:
        """Everything that later steps depend on, for a checkpoint."""
        return {"step": self.step, "model": self.model.state_dict(), "adam": self.adam.state_dict(),
                "batches": self.batches.get_state(), "hooks": self.hooks.state()}

    def restore(self, state: dict) -> None:
        self.step = state["step"]
        self.model.load_state_dict(state["model"])
        self.adam.load_state_dict(state["adam"])
        self.batches.set_state(state["batches"].cpu())
        self.hooks.restore(state["hooks"])

    def next_batch(self) -> torch.Tensor:
        return self.corpus.batch(self.batches, self.schedule.sequences, self.schedule.length).to(self.device)

    def gradients(self, tokens: torch.Tensor) -> float:
        """Fills .grad of all weights; returns the mean loss."""
        self.adam.zero_grad()
        loss = losses(self.model(tokens[:, :-1], self.hooks), tokens[:, 1:]).mean()
        if not torch.isfinite(loss):
            where = first_not_finite(self.model, tokens[:, :-1], self.hooks)
            raise NotFinite(f"the loss is not finite in step {self.step + 1}; first in {where}")
        loss.backward()
        return float(loss)

    def advance(self) -> float:
        """Makes a step; returns the loss before it."""
        loss = self.gradients(self.next_batch())
        self.update()
        return loss

    def update(self) -> None:
        if not self.schedule.doubling:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for group in self.adam.param_groups:
            group["lr"] = self.schedule.rate_at(self.step)
        self.adam.step()
        self.step += 1

    def is_look(self) -> bool:
        return self.step % self.schedule.every == 0 or self.step == self.schedule.steps

    def held_out_loss(self) -> float:
        return self.loss_of(self.held_out)

    def validation_loss(self) -> float:
        return self.loss_of(self.corpus.validation(self.schedule.held_out, self.schedule.length))

    def loss_of(self, tokens: torch.Tensor) -> float:
        tokens = tokens.to(self.device)
        with torch.no_grad():
            return float(losses(self.model(tokens[:, :-1], self.hooks), tokens[:, 1:]).mean())
