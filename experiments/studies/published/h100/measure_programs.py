#!/usr/bin/env python3
"""Measures programs with kernels that XLA calls by name on the GPU of this machine, as JAX compiles
them, and writes their optimized HLO text.

Usage: measure_programs.py FOLDER. Needs JAX with CUDA and cuDNN. Writes FOLDER/NAME.hlo.txt and
FOLDER/programs.json: median, lowest and highest seconds per call over twenty batches of calls.
"""
import json
import pathlib
import statistics
import sys
import time

import jax
import jax.numpy as jnp

BATCHES = 20
SECONDS_PER_BATCH = 0.15


def normal(*shape, dtype=jnp.bfloat16):
    return jax.random.normal(jax.random.key(sum(shape)), shape, jnp.float32).astype(dtype)


def attention(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation="cudnn")


def loss(function):
    return lambda *operands: function(*operands).astype(jnp.float32).sum()


def layer(x, weights):
    """Attention and FFN of a decoder layer of 4096 features with 32 query and 8 key-value heads."""
    batch, tokens, features = x.shape
    q = (x @ weights["q"]).reshape(batch, tokens, 32, 128)
    k = (x @ weights["k"]).reshape(batch, tokens, 8, 128)
    v = (x @ weights["v"]).reshape(batch, tokens, 8, 128)
    x = x + attention(q, k, v).reshape(batch, tokens, features) @ weights["o"]
    return x + (jax.nn.silu(x @ weights["gate"]) * (x @ weights["up"])) @ weights["down"]


def layer_weights():
    return {"q": normal(4096, 4096) / 64, "k": normal(4096, 1024) / 64, "v": normal(4096, 1024) / 64,
            "o": normal(4096, 4096) / 64, "gate": normal(4096, 14336) / 64, "up": normal(4096, 14336) / 64,
            "down": normal(14336, 4096) / 120}


def experts(x, up, sizes):
    return jax.lax.ragged_dot(x, up, sizes)


def programs():
    heads = [normal(4, 4096, 32, 128) for _ in range(3)]
    groups = [normal(1, 8192, 32, 128), normal(1, 8192, 8, 128), normal(1, 8192, 8, 128)]
    sizes = jnp.array([1024] * 8, jnp.int32)
    return {
        "cudnn_attention_4096": (attention, heads),
        "cudnn_attention_gqa_8192": (attention, groups),
        "cudnn_attention_train_4096": (jax.grad(loss(attention), (0, 1, 2)), heads),
        "cudnn_layer_train_4096": (jax.grad(loss(layer), (0, 1)), [normal(2, 4096, 4096), layer_weights()]),
        "sort_4096_8192": (lambda x: jnp.sort(x, axis=-1), [normal(4096, 8192, dtype=jnp.float32)]),
        "ragged_train_8192": (jax.grad(loss(experts), (0, 1)), [normal(8192, 4096), normal(8, 4096, 4096), sizes]),
    }


def seconds_per_call(compiled, operands):
    jax.block_until_ready(compiled(*operands))
    start = time.perf_counter()
    jax.block_until_ready(compiled(*operands))
    calls = max(3, int(SECONDS_PER_BATCH / (time.perf_counter() - start)))
    seconds = []
    for _ in range(BATCHES):
        start = time.perf_counter()
        for _ in range(calls):
            result = compiled(*operands)
        jax.block_until_ready(result)
        seconds.append((time.perf_counter() - start) / calls)
    return {"seconds": statistics.median(seconds), "lowest": min(seconds), "highest": max(seconds), "calls": calls}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, (function, operands) in programs().items():
        try:
            compiled = jax.jit(function).lower(*operands).compile()
            (folder / f"{name}.hlo.txt").write_text(compiled.as_text(), encoding="utf-8")
            rows.append({"name": name, **seconds_per_call(compiled, operands)})
        except Exception as error:  # report it, and measure the others
            rows.append({"name": name, "error": str(error)[:300]})
        print(json.dumps(rows[-1]), flush=True)
    device = jax.devices()[0].device_kind
    (folder / "programs.json").write_text(json.dumps({"device": device, "jax": jax.__version__, "rows": rows}, indent=1),
                                          encoding="utf-8")


if __name__ == "__main__":
    main()
