"""Two small language models over characters, in plain PyTorch, whose matmuls go through a hook.

"llama": norms before attention and FFN, rotary positions, a gated FFN (SwiGLU).
"fog": no pre-norms; RMSNorm after each half with a gain that begins at 1 / sqrt(layers), queries
and keys normalized with a fixed gain, embeddings scaled by 1 / (their standard deviation), an
ungated FFN that is 1.5 times as wide and so has as many weights (FOG, arXiv 2505.20524, section 3).
Its activation is xIELU (Huang and Schlag, arXiv 2411.13010), or GELU.
"""
import dataclasses
import math

import torch
from torch.nn import functional

from corpus import VOCABULARY

INIT_STD = 0.02
EPSILON = 1e-5
# xIELU: the slope at 0, the cut-off of its exponent, and both curvatures before training.
XIELU_SLOPE, XIELU_CUT, XIELU_CURVATURE = 0.5, -1e-6, 0.8


@dataclasses.dataclass(frozen=True)
class Shape:
    """Shape of a model. `ffn`: inner width of a gated FFN. `activation` of "fog": "xielu" or
    "gelu". `final_norm`: before the head. `softmax_scale`: of the scores, 1 / sqrt(head) if None."""

    kind: str = "llama"
    layers: int = 4
    width: int = 128
    heads: int = 16
    ffn: int = 512
    activation: str = "xielu"
    final_norm: bool = True
    softmax_scale: float | None = None

    @property
    def inner(self) -> int:
        return self.ffn if self.kind == "llama" else self.ffn * 3 // 2

    @property
    def has_xielu(self) -> bool:
        return self.kind == "fog" and self.activation == "xielu"

    @property
    def head(self) -> int:
        return self.width // self.heads

    @property
    def score_divisor(self) -> float:
        return math.sqrt(self.head) if self.softmax_scale is None else 1.0 / self.softmax_scale


class Hooks:
    """Hooks between a model and its arithmetic; these do nothing. `overflow`: the place of a
    training's first value that became non-finite for lack of range, if hooks record it."""

    overflow: str | None = None

    def linear(self, where: str, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """x [..., in] with a weight [out, in]."""
        return functional.linear(x, weight)

    def matmul(self, where: str, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Matmuls of attention: scores, and values."""
        return a @ b

    def row_parallel(self, where: str, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Matmuls whose inputs are divided by tensor parallelism: the output projection, and the
        FFN's last."""
        return self.linear(where, x, weight)

    def see(self, where: str, x: torch.Tensor) -> None:
        """Called with the tensors that monitors observe: [sequences, positions, ...]."""

    def see_logits(self, where: str, scores: torch.Tensor) -> None:
        """Called with the scores of attention, before the softmax."""

    def prepare(self, model: "Model") -> list[torch.nn.Parameter]:
        """Called with the model before training; returns parameters of the arithmetic itself."""
        return []

    def state(self) -> dict:
        """Everything that later products depend on, for a checkpoint."""
        return {}

    def restore(self, state: dict) -> None:
        """Continues from a state()."""


def norm(x: torch.Tensor, gain) -> torch.Tensor:
    """RMSNorm of the last axis."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * gain


def xielu(x: torch.Tensor, positive: torch.Tensor, negative: torch.Tensor) -> torch.Tensor:
    """Its derivative is a line above 0, and an exponential below. The learnt curvatures pass
    through softplus and so stay above 0; the one below 0 also stays above the slope at 0, so that
    the derivative changes its sign."""
    above = functional.softplus(positive) * x.square()
    below = (XIELU_SLOPE + functional.softplus(negative)) * (torch.expm1(x.clamp(max=XIELU_CUT)) - x)
    return torch.where(x > 0, above, below) + XIELU_SLOPE * x


def xielu_parameters() -> dict[str, torch.nn.Parameter]:
    """Initial values of one layer: softplus of them gives the curvatures."""
    def before_softplus(value: float):
        return torch.nn.Parameter(torch.tensor(math.log(math.expm1(value))))

    return {"alpha_p": before_softplus(XIELU_CURVATURE), "alpha_n": before_softplus(XIELU_CURVATURE - XIELU_SLOPE)}


def rotated(x: torch.Tensor) -> torch.Tensor:
    """Rotary positions. x: [sequences, heads, positions, head]."""
    half = x.shape[-1] // 2
    rates = 10000.0 ** (-torch.arange(half, dtype=torch.float32, device=x.device) / half)
    angles = torch.arange(x.shape[-2], dtype=torch.float32, device=x.device)[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * cos - second * sin, first * sin + second * cos), -1)


class Model(torch.nn.Module):
    """Logits of the next character for each position."""

    def __init__(self, shape: Shape, seed: int):
        super().__init__()
        self.shape = shape
        generator = torch.Generator().manual_seed(seed)

        def matrix(rows: int, columns: int, std: float = INIT_STD):
            return torch.nn.Parameter(torch.randn(rows, columns, generator=generator) * std)

        width, inner, layers = shape.width, shape.inner, shape.layers
        self.embedding = matrix(VOCABULARY, width)
        self.head = matrix(VOCABULARY, width)
        if shape.final_norm:
            self.last_gain = torch.nn.Parameter(torch.ones(width))
        gain = 1.0 if shape.kind == "llama" else 1.0 / math.sqrt(layers)
        names = ("q", "k", "v", "up", "gate") if shape.kind == "llama" else ("q", "k", "v", "up")
        self.blocks = torch.nn.ModuleList()
        for _ in range(layers):
            block = torch.nn.ParameterDict({name: matrix(inner if name in ("up", "gate") else width, width,
                                                         1.0 / math.sqrt(width)) for name in names})
            block["out"] = matrix(width, width, 1.0 / math.sqrt(2 * layers * width))
            block["down"] = matrix(width, inner, 1.0 / math.sqrt(2 * layers * inner))
            for half in ("attention_gain", "ffn_gain"):
                block[half] = torch.nn.Parameter(torch.full((width,), gain))
            if shape.has_xielu:
                block.update(xielu_parameters())
            self.blocks.append(block)

    def matrices(self) -> list[dict[str, torch.Tensor]]:
        """Weights [out, in] of each block's products, named as in hooks."""
        return [{name: weight for name, weight in block.items() if weight.ndim == 2} for block in self.blocks]

    def forward(self, tokens: torch.Tensor, hooks: Hooks | None = None) -> torch.Tensor:
        hooks = hooks or Hooks()
        x = self.embedding[tokens]
        if self.shape.kind == "fog":
            x = x / INIT_STD
        for index, block in enumerate(self.blocks):
            for half, work in (("attention", self._attention), ("ffn", self._ffn)):
                gain = block[f"{half}_gain"]
                if self.shape.kind == "llama":
                    x = x + work(block, norm(x, gain), hooks, index)
                else:
                    x = x + norm(work(block, x, hooks, index), gain)
            hooks.see(f"{index}/output", x)
        if self.shape.final_norm:
            x = norm(x, self.last_gain)
        return functional.linear(x, self.head)  # unquantized in all recipes

    def _attention(self, block, x: torch.Tensor, hooks: Hooks, index: int) -> torch.Tensor:
        shape, (sequences, positions, width) = self.shape, x.shape
        hooks.see(f"{index}/qkv_input", x)

        def heads(name):
            flat = hooks.linear(f"{index}/{name}", x, block[name])
            return flat.view(sequences, positions, shape.heads, shape.head).transpose(1, 2)

        q, k, v = heads("q"), heads("k"), heads("v")
        if shape.kind == "fog":
            q, k = norm(q, 1.0), norm(k, 1.0)
        q, k = rotated(q), rotated(k)
        hooks.see(f"{index}/q", q)
        hooks.see(f"{index}/k", k)
        scores = hooks.matmul(f"{index}/scores", q, k.transpose(2, 3)) / shape.score_divisor
        future = torch.ones(positions, positions, dtype=torch.bool, device=x.device).triu(1)
        hooks.see_logits(f"{index}/scores", scores)
        probabilities = scores.masked_fill(future, -math.inf).softmax(-1)
        mixed = hooks.matmul(f"{index}/values", probabilities, v)
        joined = mixed.transpose(1, 2).reshape(sequences, positions, width)
        return hooks.row_parallel(f"{index}/out", joined, block["out"])

    def _ffn(self, block, x: torch.Tensor, hooks: Hooks, index: int) -> torch.Tensor:
        up = hooks.linear(f"{index}/up", x, block["up"])
        hooks.see(f"{index}/ffn_before", up)
        if self.shape.kind == "llama":
            inner = functional.silu(hooks.linear(f"{index}/gate", x, block["gate"])) * up
        elif self.shape.has_xielu:
            inner = xielu(up, block["alpha_p"], block["alpha_n"])
        else:
            inner = functional.gelu(up)
        hooks.see(f"{index}/ffn_after", inner)
        out = hooks.row_parallel(f"{index}/down", inner, block["down"])
        hooks.see(f"{index}/ffn_output", out)
        return out


def losses(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Loss of each sequence, in nats."""
    each = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
    return each.view(targets.shape).mean(1)
