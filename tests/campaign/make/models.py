"""Transformers: small ones from a file, and occasionally a built-in one."""
from draw import Draw

NAMES = ["gemma3-12b", "llama3-8b", "gpt-7b"]


def small(draw: Draw, chips: int) -> dict:
    kv_heads = chips * draw.choice([1, 1, 2]) if draw.chance(0.9) else draw.choice([1, 2, 4])
    made = {"name": "drawn", "description": "drawn", "source": "drawn", "layers": draw.randint(1, 4),
            "d_model": draw.choice([8, 64, 96, 256]), "heads": kv_heads * draw.choice([1, 2, 4]), "kv_heads": kv_heads,
            "head_size": draw.choice([2, 16, 64]), "ffn": chips * draw.choice([8, 16,
                                                                               100]), "gated_ffn": draw.chance(0.5),
            "activation": draw.choice(["gelu", "silu", "relu"]), "vocabulary": draw.choice([64, 1000, 4096]),
            "tied_embeddings": draw.chance(0.5), "largest_context": draw.choice([64, 1024, 4096]),
            "post_norms": draw.chance(0.5), "qk_norms": draw.chance(0.5), "weights": draw.choice(["bf16", "fp32"])}
    if draw.chance(0.4):
        made["local_attention"] = {"layers_per_global": draw.randint(1, 5), "window": draw.choice([1, 16, 1024])}
    return made


def model(draw: Draw, files: dict, chips: int) -> str:
    """Its name, or the path of a file; the number of heads is mostly divisible by the chips."""
    if draw.chance(0.1):
        return draw.choice(NAMES)
    files["model.json"] = small(draw, chips)
    return "./model.json"
