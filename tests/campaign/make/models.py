"""Transformers: small ones from a file, and occasionally a built-in one."""
from draw import Draw

NAMES = ["gemma3-12b", "fog-1.5b", "llama3-8b", "gpt-7b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-20b"]


def experts(draw: Draw, chips: int, layers: int) -> dict:
    count = draw.choice([2, 8, 16, 96])
    made = {"count": count, "top_k": draw.randint(1, count if draw.chance(0.2) else 2),
            "ffn": chips * draw.choice([4, 16])}
    if draw.chance(0.4):
        made["shared_ffn"] = chips * draw.choice([4, 16])
    if draw.chance(0.3):
        made["dense_layers"] = draw.randint(0, layers)
    if draw.chance(0.3):
        made["every"] = draw.randint(1, 2)
    return made


def make_latent(draw: Draw, made: dict) -> None:
    made["kv_heads"] = made["heads"]
    made["head_size"] = draw.choice([4, 48])
    made["latent_attention"] = {"kv_rank": draw.choice([8, 64]), "rope": draw.choice([2, 16]),
                                "value": draw.choice([4, 32])}
    if draw.chance(0.7):
        made["latent_attention"]["query_rank"] = draw.choice([0, 8, 96])


def small(draw: Draw, chips: int, of_experts: float = 0.4) -> dict:
    kv_heads = chips * draw.choice([1, 1, 2]) if draw.chance(0.9) else draw.choice([1, 2, 4])
    made = {"name": "drawn", "description": "drawn", "source": "drawn", "layers": draw.randint(1, 4),
            "d_model": draw.choice([8, 64, 96, 256]), "heads": kv_heads * draw.choice([1, 2, 4]), "kv_heads": kv_heads,
            "head_size": draw.choice([2, 16, 64]), "ffn": chips * draw.choice([8, 16,
                                                                               100]), "gated_ffn": draw.chance(0.5),
            "activation": draw.choice(["gelu", "silu", "relu", "xielu"]), "vocabulary": draw.choice([64, 1000, 4096]),
            "tied_embeddings": draw.chance(0.5), "largest_context": draw.choice([64, 1024, 4096]),
            "post_norms": draw.chance(0.5), "qk_norms": draw.chance(0.5), "weights": draw.choice(["bf16", "fp32"])}
    for key in ("pre_norms", "final_norm", "qk_gains"):
        if draw.chance(0.3):
            made[key] = draw.chance(0.5)
    if draw.chance(0.4):
        made["local_attention"] = {"layers_per_global": draw.randint(1, 5), "window": draw.choice([1, 16, 1024])}
    if draw.chance(of_experts):
        made["experts"] = experts(draw, chips, made["layers"])
    if draw.chance(0.2):
        make_latent(draw, made)
    if draw.chance(0.3):
        made["prediction_layers"] = draw.randint(0, 2)
    return made


def expert_keys(draw: Draw, files: dict, name: str) -> dict:
    """How a model with experts dispatches rows; nothing for others."""
    if "experts" not in files.get("model.json", {}) or not name.startswith("./"):
        return {}
    if draw.chance(0.5):
        return {"expert_imbalance": draw.choice([1, 1.25, 2])} if draw.chance(0.5) else {}
    return {"capacity_factor": draw.choice([0.5, 1, 1.25, 4]), "dispatch": draw.choice(["permute", "einsum"])}


def model(draw: Draw, files: dict, chips: int, of_experts: float = 0.4) -> str:
    """Its name, or the path of a file; the number of heads is mostly divisible by the chips."""
    if draw.chance(0.1):
        return draw.choice(NAMES)
    files["model.json"] = small(draw, chips, of_experts)
    return "./model.json"
