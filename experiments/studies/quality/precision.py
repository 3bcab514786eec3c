"""Matrix products of a scheme: casts of operands with their state, the products of both passes, and monitors."""
import collections
import dataclasses
import math

import torch

import codes
import scheme as schemes
from models import Hooks
from scheme import Operand, Scheme

BF16 = schemes.from_json("bf16", {})
DECAY = 0.9997  # of the moving mean from which a learnt range begins (PAMS, arXiv 2011.04212)


@dataclasses.dataclass
class Cast:
    """An operand after its cast. `slope`: derivative of the cast, None for 1. `apart`: the excess over a clamp."""

    values: torch.Tensor
    slope: torch.Tensor | None = None
    apart: torch.Tensor | None = None

    def whole(self) -> torch.Tensor:
        return self.values if self.apart is None else self.values + self.apart


class Precision(Hooks):
    """Products of a scheme, for a model of some layers. `seed`: of stochastic rounding and of signs of rotations.
    `seen`: values of the monitors since it was last emptied, by name."""

    def __init__(self, scheme: Scheme, layers: int = 0, seed: int = 0, device: str = "cpu"):
        self.scheme, self.layers, self.device = scheme, layers, device
        self.largest: dict[str, collections.deque] = {}
        self.ranges = torch.nn.ParameterDict()
        self.calibrated: dict[str, int] = {}
        self.random = torch.Generator(device).manual_seed(seed)
        self.signs: dict[int, torch.Tensor] = {}
        self.is_looking = False
        self.seen: dict[str, float] = {}
        self.overflow = None

    def prepare(self, model) -> list[torch.nn.Parameter]:
        """Makes the ranges that the scheme learns; returns them for the optimizer."""
        for index, block in enumerate(model.matrices()):
            names = [*block] + (["scores", "values"] if self.scheme.attention else [])
            for where in (f"{index}/{name}" for name in names):
                for side, operand in zip("ab", self._scheme_of(where).operands["forward"].values()):
                    if operand.scale == "learnt":
                        key = self._key(f"{where}/{side}")
                        self.ranges[key] = torch.nn.Parameter(torch.ones((), device=self.device))
                        self.calibrated[key] = 0
        return list(self.ranges.values())

    @staticmethod
    def _key(where: str) -> str:
        return where.replace("/", "_")

    def _scheme_of(self, where: str) -> Scheme:
        kept = self.scheme.kept and int(where.split("/")[0]) >= self.layers - self.scheme.kept
        return BF16 if kept else self.scheme

    def linear(self, where, x, weight):
        return self._product(where, x, weight, self._scheme_of(where))

    def matmul(self, where, a, b):
        return self._product(where, a, b.transpose(-1, -2), self._scheme_of(where) if self.scheme.attention else BF16)

    def _product(self, where, a, b, scheme: Scheme):
        is_training = torch.is_grad_enabled()
        forward = scheme.operands["forward"]
        of_a, cast_a = self._forward_cast(f"{where}/a", a, forward["activations"], is_training)
        of_b, cast_b = self._forward_cast(f"{where}/b", b, forward["weights"], is_training)
        job = _Job(self, where, scheme, a.detach(), b.detach(), cast_a, cast_b)
        return _Product.apply(of_a, of_b, job) if is_training else job.forward()

    def see(self, where, x):
        if not self.is_looking:
            return
        each = x.detach().flatten(1).double()  # fourth powers of diverging values exceed FP32
        square = each.square().mean(1)
        self.seen[f"kurtosis {where}"] = float((each.pow(4).mean(1) / square.square()).mean())
        self.seen[f"rms {where}"] = float(square.mean().sqrt())

    def see_logits(self, where, scores):
        if self.is_looking:
            self.seen[f"logits {where}"] = float(scores.detach().abs().max())

    def _forward_cast(self, where: str, x, operand: Operand, is_training: bool) -> tuple[torch.Tensor, Cast]:
        """x as an operand of the forward pass: in the graph of gradients, and its values."""
        if operand.scale == "learnt":
            learnt = self._learnt(where, x, operand, is_training)
            return learnt, Cast(learnt.detach())
        cast = self.cast(where, x.detach(), operand, is_training)
        return _Passed.apply(x, cast), cast

    def cast(self, where: str, x: torch.Tensor, operand: Operand, is_step: bool = True) -> Cast:
        """x [..., rows, columns] as an operand. `is_step`: True if its amax counts for later scales."""
        if operand.is_exact:
            return Cast(x)
        into = codes.code(operand.code)
        if operand.scale == "none":
            return Cast(codes.rounded(x, into, operand.ties, self.random), _slope(x, x, x, operand, into))
        within = codes.clamped(x, operand.clamp) if operand.clamp else x
        turned = codes.hadamard(within, operand.hadamard, self._signs(operand.hadamard)) if operand.hadamard else within
        kind = codes.Groups(operand.groups, operand.length)
        values = codes.grouped(turned, kind)
        if operand.scale == "delayed":
            scale = self._delayed_scale(where, float(values.abs().max()), operand, into, is_step)
        else:
            scale = codes.scales(values, operand.scale, into)
        scaled = values / scale
        cast = Cast(codes.ungrouped(codes.rounded(scaled, into, operand.ties, self.random) * scale, kind, x.shape))
        if not operand.saturates:
            self._overflow(where, cast, x, scale, into, is_step)
        self._monitor(where, x, scaled, cast, into)
        if operand.compensated:
            cast.apart = (x - within).bfloat16().float()
        if operand.derivative != "straight-through":
            cast.slope = _slope(x, codes.ungrouped(scaled, kind, x.shape), within, operand, into)
        return cast

    def _overflow(self, where: str, cast: Cast, x, scale, into: codes.Code, is_step: bool) -> None:
        least, beyond = into.overflow
        cast.values = torch.where(x.abs() >= least * scale, torch.full_like(x, beyond).copysign(x), cast.values)
        if is_step and self.overflow is None and not cast.values.isfinite().all():
            self.overflow = f"{where}, where a value does not fit {into.name} with the scale of the steps before"

    def _monitor(self, where: str, x, scaled, cast: Cast, into: codes.Code) -> None:
        if self.is_looking:
            self.seen[f"saturated {where}"] = float((scaled.abs() > into.largest).float().mean())
            self.seen[f"flushed {where}"] = float(((cast.values == 0) & (x != 0)).float().mean())

    def _delayed_scale(self, where: str, largest: float, operand: Operand, into: codes.Code, is_step: bool) -> float:
        known = self.largest.setdefault(where, collections.deque(maxlen=operand.history))
        of = max(known) if known else largest
        if is_step and math.isfinite(largest):
            known.append(largest)
        if of <= 0.0 or not math.isfinite(of):
            return 1.0
        return 2.0 ** (math.ceil(math.log2(of / into.largest)) + operand.margin)

    def _signs(self, length: int) -> torch.Tensor:
        if length not in self.signs:
            drawn = torch.randint(2, (length,), generator=self.random, device=self.device)
            self.signs[length] = (drawn * 2 - 1).float()
        return self.signs[length]

    def _learnt(self, where: str, x: torch.Tensor, operand: Operand, is_training: bool) -> torch.Tensor:
        key, levels = self._key(where), codes.code(operand.code).largest
        alpha = self.ranges[key]
        if is_training and self.calibrated[key] < operand.history:
            mean = x.detach().abs().flatten(1).amax(1).mean()
            is_first = self.calibrated[key] == 0
            alpha.data.copy_(mean if is_first else DECAY * alpha.data + (1 - DECAY) * mean)
            self.calibrated[key] += 1
            alpha = alpha.detach()
        return _Learnt.apply(x, alpha, levels)

    def state(self) -> dict:
        """Everything that later casts depend on, for a checkpoint."""
        return {"largest": {where: (list(known), known.maxlen) for where, known in self.largest.items()},
                "ranges": dict(self.ranges.items()), "calibrated": self.calibrated, "signs": self.signs,
                "random": self.random.get_state(), "overflow": self.overflow}

    def restore(self, state: dict) -> None:
        self.largest = {where: collections.deque(*known) for where, known in state["largest"].items()}
        for key, value in state["ranges"].items():
            self.ranges[key].data.copy_(value)
        self.calibrated, self.signs, self.overflow = state["calibrated"], state["signs"], state["overflow"]
        self.random.set_state(state["random"].cpu())


def _slope(x, scaled, within, operand: Operand, into: codes.Code) -> torch.Tensor | None:
    """Derivative of the cast of x, `scaled` in units of its scale; None for 1."""
    if operand.derivative == "dge":
        return codes.dge(scaled, into, operand.k, operand.at_most)
    if operand.derivative == "clamp":
        return ((scaled.abs() <= into.largest) & (within == x)).float()
    return None


@dataclasses.dataclass
class _Job:
    """One product a b^T, a [..., m, k] and b [..., n, k], with everything that its backward pass needs."""

    hooks: Precision
    where: str
    scheme: Scheme
    a: torch.Tensor
    b: torch.Tensor
    cast_a: Cast
    cast_b: Cast

    def forward(self) -> torch.Tensor:
        dense = self.cast_a.values @ self.cast_b.values.transpose(-1, -2)
        return dense if self.cast_a.apart is None else dense + self._sparse()

    def _sparse(self) -> torch.Tensor:
        """The excess of a over its clamp, as a sparse operand."""
        if self.b.dim() > 2:
            return self.cast_a.apart @ self.cast_b.values.transpose(-1, -2)
        rows = self.cast_a.apart.flatten(0, -2).to_sparse()
        return torch.sparse.mm(rows, self.cast_b.values.t()).view(*self.a.shape[:-1], -1)

    def of_a(self, gradient: Cast) -> torch.Tensor:
        operand = self.scheme.operand("input_gradient", "weights")
        if operand == "forward":
            return gradient.values @ self.cast_b.values
        turned = self.hooks.cast(f"{self.where}/bt", self.b.transpose(-1, -2), operand)
        return gradient.values @ turned.values.transpose(-1, -2)

    def of_b(self, exact: torch.Tensor, gradient: Cast) -> torch.Tensor:
        gradients, activations = self.scheme.operands["weight_gradient"].values()

        def tokens(x):  # a weight has one row for all positions of all sequences
            return x.flatten(0, -2) if self.b.dim() == 2 else x

        if gradients == "input_gradient":
            left = tokens(gradient.values).transpose(-1, -2)
        else:
            left = self.hooks.cast(f"{self.where}/gt", tokens(exact).transpose(-1, -2), gradients).values
        if activations == "forward":
            return left @ tokens(self.cast_a.whole())
        right = self.hooks.cast(f"{self.where}/at", tokens(self.a).transpose(-1, -2), activations)
        return left @ right.values.transpose(-1, -2)


class _Product(torch.autograd.Function):
    """A product of cast operands, and its two gradients, each of operands of its pass."""

    @staticmethod
    def forward(ctx, a, b, job):  # a and b have the values of the job
        ctx.job = job
        return job.forward()

    @staticmethod
    def backward(ctx, gradient):
        job = ctx.job
        operand = job.scheme.operand("input_gradient", "gradients")
        cast = job.hooks.cast(f"{job.where}/gradient", gradient, operand)
        return job.of_a(cast), job.of_b(gradient, cast), None


class _Passed(torch.autograd.Function):
    """The cast of x: its values forward, its slope backward."""

    @staticmethod
    def forward(ctx, x, cast):
        ctx.slope = cast.slope
        return cast.values

    @staticmethod
    def backward(ctx, gradient):
        return gradient if ctx.slope is None else gradient * ctx.slope, None


class _Learnt(torch.autograd.Function):
    """round(clip(x, -alpha, alpha) levels / alpha) alpha / levels, with gradients of both: rounding has the
    derivative 1 (PAMS)."""

    @staticmethod
    def forward(ctx, x, alpha, levels):
        codes_of_x = (x.clamp(-alpha, alpha) * levels / alpha).round()
        values = codes_of_x * alpha / levels
        ctx.save_for_backward(x, values, alpha)
        return values

    @staticmethod
    def backward(ctx, gradient):
        x, values, alpha = ctx.saved_tensors
        fits = x.abs() <= alpha
        of_alpha = torch.where(fits, (values - x) / alpha, x.sign())
        return gradient * fits, (gradient * of_alpha).sum(), None
