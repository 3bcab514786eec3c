# %% [markdown]
# # First steps
#
# *If this collective were quantized this way, on this slice of this machine, how long would it take, and what would the
# numbers be?* This notebook runs one experiment, looks at what it found, sums arrays of its own, and makes a mistake.
# It takes a second. [docs/python.md](../../docs/python.md) is the guide to the package,
# [docs/glossary.md](../../docs/glossary.md) has every term.

# %%
import sys

import equarx
import matplotlib.pyplot as plt
import numpy as np

SAVE = "--save" in sys.argv  # python3 first_steps.py --save: the figure as a PNG file in the current folder
print("equarx", equarx.__version__)

# %% [markdown]
# ## An experiment
#
# A configuration is a dict, or the path of a JSON file. This one sums a tensor over the eight chips of a TPU v5e slice,
# once in BF16 and once with EQuARX, which quantizes to int8 before every hop.
# [docs/configuration.md](../../docs/configuration.md) has every key.

# %%
experiment = {
    "hardware": "tpu-v5e",
    "topology": {"slice": "4x2"},
    "tensor": {"shape": [2048, 4096], "dtype": "bf16", "values": {"distribution": "normal", "seed": 1}},
    "collectives": [
        {"label": "bf16", "algorithm": "ring", "format": "bf16"},
        {"label": "int8", "algorithm": "equarx", "format": "int8"},
    ],
    "baseline": "bf16",
}
result = equarx.run(experiment)
print(result)

# %% [markdown]
# ## Times
#
# What the table shows, and more, is an attribute of a run; all of them are in [docs/results.md](../../docs/results.md).
# Times are in seconds, and simulated. `lower_bound_s` is what the bytes of the busiest link take at its bandwidth: no
# schedule is faster.

# %%
for label, run in result.runs.items():
    print(f"{label}: {run.time * 1e6:.0f} us, {run.speedup:.2f}x, at least {run.lower_bound_s * 1e6:.0f} us")

# %% [markdown]
# ## Where the time goes
#
# Twice as few bits an element, but less than twice as fast. The *breakdown* says why: of the busiest link's time,
# scales take a little that BF16 does not need, and start-up and synchronisation stay what they are.

# %%
for label, run in result.runs.items():
    parts = ", ".join(f"{name.removesuffix('_s')} {seconds / run.time:.1%}" for name, seconds in run.breakdown.items())
    print(f"{label}: {parts}")

figure, axes = plt.subplots(figsize=(7, 2.4), layout="constrained")
result.plot(axes)
axes.set_title("AllReduce of 16 MiB over 8 TPU v5e")
if SAVE:
    figure.savefig("first_steps.png", dpi=150)
plt.show()

# %% [markdown]
# ## Errors
#
# The same program that was timed is also computed, on every element, in the order in which the chips would add. Errors
# are against the exact sum. BF16 has one, too, since it rounds after every hop.

# %%
for label, run in result.runs.items():
    print(f"{label}: SQNR {run.numerics.sqnr_db:.1f} dB, MSE {run.numerics.mse:.2e}, "
          f"largest error {run.numerics.max_abs_error:.2f}")

# %% [markdown]
# ## The same, changed
#
# Overrides replace values by their JSON pointer, as `--set` does on the command line. Small tensors gain nothing,
# because synchronisation does not shrink with the bytes. `"/numerics": "off"` leaves the errors out, which is quicker.

# %%
for size in ("64 KiB", "1 MiB", "16 MiB", "256 MiB"):
    changed = equarx.run(experiment, {"/tensor": {"bytes": size}, "/numerics": "off"})
    print(f"{size:>7}: {changed.runs['int8'].speedup:.2f}x")

# %% [markdown]
# ## Arrays of your own
#
# One array for each rank, or one array whose leading axis counts ranks: float32, float16 or bfloat16, of NumPy, PyTorch
# (on the CPU) or JAX. `outcome.result` is what every rank ends with, bit for bit.

# %%
gradients = np.random.default_rng(1).standard_normal((8, 1024, 512)).astype("float32")
outcome = equarx.allreduce(gradients, format="int8", topology={"slice": "4x2"}, time=True)
exact = gradients.sum(axis=0, dtype="float64")
print(outcome)
print("shape", outcome.result.shape, "dtype", outcome.result.dtype)
print(f"MSE {outcome.mse:.2e}; by hand {np.mean((outcome.result - exact) ** 2):.2e}")

# %% [markdown]
# The fewer elements share a scale, the smaller the error, and the more scales are sent. In the layout of EQuARX the
# number follows from the size of the tensor, and a small tensor has a small error for that reason alone. Blocks of 128
# neighbours are the same at any size:

# %%
blocks = equarx.allreduce(gradients, "int8", topology={"slice": "4x2"}, layout="contiguous", block=128, time=True)
for name, one in (("strided", outcome), ("blocks of 128", blocks)):
    print(f"{name}: {one.timing.elements_per_scale:g} elements share a scale, SQNR {one.sqnr_db:.1f} dB")

# %% [markdown]
# ## Mistakes
#
# What is wrong in a configuration or an array is an `equarx.InputError`, which is a ValueError: one sentence with the
# place and the remedy. `pointer` is the place as a JSON pointer, for programs that write configurations.

# %%
try:
    equarx.run(experiment, {"/collectives/1/format": "int9"})
except equarx.InputError as error:
    print(error)
    print("pointer:", error.pointer)

try:
    equarx.allreduce(gradients.astype("float64"), "int8")
except equarx.InputError as error:
    print(error)

# %% [markdown]
# ## Where to go from here
#
# - [my_tensor_through_every_format](my_tensor_through_every_format.ipynb): what each number format does to a tensor of
#   your own.
# - [sweeping_slices](sweeping_slices.ipynb): many runs, as a table and a figure.
# - [docs/model.md](../../docs/model.md): what the times rest on, and where they miss.
