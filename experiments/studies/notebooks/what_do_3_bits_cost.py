# %% [markdown]
# # What do 3 bits cost my layer?
#
# The weights of *one* layer in the formats of papers: bits of a weight with everything that is stored, error of the
# weights, and error of the layer's outputs. Methods that round by the layer's inputs (GPTQ, AWQ, SliM-LLM) have few of
# them; errors are measured on others. It takes a few seconds.
# [docs/stored_formats.md](../../../docs/stored_formats.md) specifies every format.

# %%
import json
import pathlib
import sys

import equarx
import matplotlib.pyplot as plt
import numpy as np

SAVE = "--save" in sys.argv  # python3 what_do_3_bits_cost.py --save writes the figure as PNG

# %% [markdown]
# ## The layer
#
# The gate of an FFN in a small language model ([source](../../../tests/fixtures/layers/README.md)), outputs by inputs,
# and its inputs on held-out text, a row for each token. To use your own, replace the path and the two names; with the
# package `safetensors`, `safetensors.numpy.load_file` reads more types. Record inputs with a forward hook of PyTorch:
# `layer.register_forward_pre_hook(lambda layer, x: rows.append(x[0].flatten(0, -2)))`.


# %%
def found(name: str) -> pathlib.Path:
    """Path of a file in the repository, or installation, that contains this notebook."""
    here = pathlib.Path(globals().get("__file__", "notebook")).resolve()  # notebooks run in their own folder
    for folder in here.parents:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"{name} is not above {here.parent}; move the notebook back, or load your own layer")


def loaded(path: pathlib.Path) -> dict[str, np.ndarray]:
    """float32 arrays of a .safetensors file with tensors of F16 and F32."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    types = {"F16": "<f2", "F32": "<f4"}
    return {name: np.frombuffer(data[start:][slice(*entry["data_offsets"])], types[entry["dtype"]])
            .reshape(entry["shape"]).astype("float32") for name, entry in header.items() if name != "__metadata__"}


layer = loaded(found("tests/fixtures/layers/gate.safetensors"))
weights, tokens = layer["weight"], layer["inputs"]
calibration, held_out = np.array_split(tokens, 2)
sizes = np.sqrt(np.mean(tokens.astype("float64") ** 2, axis=0))
print(f"weights {weights.shape}, largest {np.abs(weights).max() / weights.std():.1f} standard deviations")
print(f"{len(tokens)} tokens, the first half for calibration")
print(f"rms of inputs by column: {sizes.min():.2f} to {sizes.max():.2f}")

# %% [markdown]
# ## The formats
#
# Groups of 32 weights along a row share a scale, and a zero point in formats with one. `k-means` has a table for each
# row, which is large for rows this short.


# %%
def formats(bits: int) -> dict[str, dict]:
    groups = {"along": "row", "length": 32}
    range_of_group = {"rule": "min-max", "type": "fp16", "zero_point": "rounded", "with_zero": True}
    integer = {"elements": {"integer": bits}, "groups": groups}
    shifted = {**integer, "scale": range_of_group}
    searched = {**range_of_group, "rule": "search", "shrink_to": 0.9, "norm": 2.4}
    feedback = {"feedback": {"order": "columns"}}
    return {
        "integer": {**integer, "scale": {"type": "fp16"}},
        "with zero point": shifted,
        "NF": {"elements": {"table": f"nf{bits}"}, "groups": groups, "scale": {"type": "fp16"}},
        "k-means": {"elements": {"table": "k-means", "bits": bits}, "groups": {"along": "row"}},
        "AWQ": {**shifted, "before": {"factor_steps": 20}},
        "GPTQ": {**shifted, **feedback},
        "SliM-LLM": {**integer, "scale": searched, "widths": {"by_salience": True}, **feedback},
    }


def output_error(decoded: np.ndarray) -> float:
    """Squared error of outputs on held-out inputs, relative to the outputs."""
    exact = held_out.astype("float64") @ weights.T
    return float(np.sum((held_out.astype("float64") @ decoded.T - exact) ** 2) / np.sum(exact**2))


rows = []
for bits in (2, 3, 4):
    for name, format in formats(bits).items():
        stored = equarx.quantize(weights, format, inputs=calibration)
        rows.append({"name": name, "bits": bits, "each": stored.bits_per_element, "weights": stored.nmse,
                     "outputs": output_error(stored.dequantize())})

print("                 bits  of a weight  error of weights  of outputs")
for row in rows:
    print(f"{row['name']:16} {row['bits']:4} {row['each']:12.2f} {row['weights']:17.4f} {row['outputs']:11.4f}")

# %% [markdown]
# Both errors are squares relative to the exact values: 0.01 is 1 %, a signal-to-noise ratio of 20 dB.
#
# ## Error by bits

# %%
LOOKS = {"integer": ("#222222", "o", "-"), "with zero point": ("#0072B2", "s", "-"), "NF": ("#56B4E9", "^", "-"),
         "k-means": ("#999999", "D", "-"), "AWQ": ("#E69F00", "v", "--"), "GPTQ": ("#D55E00", "P", "--"),
         "SliM-LLM": ("#009E73", "X", "--")}
figure, both = plt.subplots(1, 2, figsize=(9.5, 4.2), sharey=True, layout="constrained")
for axes, key in zip(both, ("weights", "outputs")):
    for name, (colour, marker, line) in LOOKS.items():
        some = [row for row in rows if row["name"] == name]
        axes.plot([row["each"] for row in some], [row[key] for row in some], color=colour, marker=marker,
                  linestyle=line, linewidth=1, markersize=5, label=name)
    axes.set(yscale="log", xlabel="bits of a weight, with scales and tables", title=f"Error of {key}")
    axes.grid(color="#eeeeee")
both[0].set_ylabel("squared error / squared value")
both[1].legend(fontsize=8)
if SAVE:
    figure.savefig("what_do_3_bits_cost.png", dpi=150)
plt.show()

# %% [markdown]
# ## Conclusions
#
# - **Feedback trades weights for outputs**: GPTQ doubles the error of the weights in its format, and a quarter of the
#   error of outputs or less is left, on tokens that it has not seen.
# - **3 bits with inputs are as good as 4 without**: GPTQ at 3 bits has the output error of rounding to nearest at 4.
# - **SliM-LLM** saves up to a sixth of GPTQ's error in addition, for 2 bits per group of columns.
# - **AWQ** changes little: its factors protect columns with large inputs, and a norm makes these columns similar.
# - **k-means** is the best of the formats without inputs, but its tables cost 0.5, 1 and 2 bits in rows of 128.
# - A layer is not a model: [docs/quality.md](../../../docs/quality.md) has the growth of perplexity.
