"""Served models under a load of few, short requests."""
from draw import Draw
from make import models

MODEL_KEYS = {"attention": [{"method": "fused", "skips_future": True}, {"method": "unfused"}],
              "residual": ["hbm", "vmem"], "precision": ["bf16", "weight-only-int8", "zeroquant"],
              "kv": ["int8-row", "e4m3-row"], "chunks": [1, 2]}


def served(draw: Draw) -> dict:
    files: dict = {}
    tensor = draw.choice([1, 2, 4])
    replicas = draw.choice([1, 2])
    serving = {"model": models.model(draw, files, tensor), "load": _load(draw), "scheduler": _scheduler(draw)}
    for key, values in MODEL_KEYS.items():
        if draw.chance(0.3):
            serving[key] = draw.choice(values)
    if draw.chance(0.3):
        serving["quantize"] = [{"algorithm": draw.choice(["ring", "two-shot"]), "format": "int8"}]
    if draw.chance(0.3):
        serving["prefill"] = {"bandwidth": "1 GB/s", "latency": draw.choice(["0 s", "1 ms"])}
    return {"config": {"hardware": draw.choice(["tpu-v5e", "h100"]), "topology": {"fully-connected": tensor * replicas},
                       "mesh": {"data": replicas, "tensor": tensor}, "serving": serving}, "files": files}


def _load(draw: Draw) -> dict:
    load = {"requests": draw.randint(1, 30), "prompt": _length(draw), "output": _length(draw),
            "seed": draw.randint(0, 9)}
    if draw.chance(0.3):
        load["shared_prefix"] = draw.choice([0, 0.5, 1])
    if draw.chance(0.4):
        load["prefixes"] = {"count": draw.choice([1, 3]), "tokens": draw.choice([1, 16, 40]),
                            "zipf": draw.choice([0, 1.1])}
    if draw.chance(0.3):
        return load | {"concurrency": draw.randint(1, 8)}
    return load | {"requests_per_s": draw.log(1, 1e4), "arrivals": draw.choice(["poisson", "regular"])}


def _length(draw: Draw) -> object:
    return draw.choice([1, 20, {"distribution": "uniform", "least": 1, "most": 24},
                        {"distribution": "lognormal", "mean": 8, "cv": 1.5, "most": 30}])


def _scheduler(draw: Draw) -> dict:
    return {"sequences": draw.choice([1, 3, 64]), "tokens": draw.choice([1, 7, 64, 512]),
            "policy": draw.choice(["mixed", "prompts-first"]), "block": draw.choice([1, 16]), "prefix_cache": draw.chance(0.5),
            "step_overhead": draw.choice(["0 s", "10 us"])}
