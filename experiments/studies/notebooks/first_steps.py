# %% [markdown]
# # First steps
#
# *How long would this collective take with this quantization on this slice, and how large would its error be?* This
# notebook runs one experiment, reads its results, sums NumPy arrays, and shows two error messages. It takes a second.
# [docs/python.md](../../../docs/python.md) is the guide to the package, [docs/glossary.md](../../../docs/glossary.md)
# explains the terms.

# %%
import sys

import equarx
import matplotlib.pyplot as plt
import numpy as np

SAVE = "--save" in sys.argv  # python3 first_steps.py --save: the figure as a PNG file in the current folder
print("equarx", equarx.__version__.partition("+")[0])

# %% [markdown]
# ## An experiment
#
# A configuration is a dict, or the path of a JSON file. This one sums a tensor over the eight chips of a TPU v5e slice,
# once in BF16 and once with EQuARX, which quantizes to int8 before every hop.
# [docs/configuration.md](../../../docs/configuration.md) lists all keys.

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
# All numbers of the table, and more, are attributes of a run ([docs/results.md](../../../docs/results.md)). Times are
# simulated, in seconds. `lower_bound_s` is the time that the busiest link needs for its bytes at full bandwidth: no
# schedule is faster.

# %%
for label, run in result.runs.items():
    print(f"{label}: {run.time * 1e6:.0f} us, {run.speedup:.2f}x, at least {run.lower_bound_s * 1e6:.0f} us")

# %% [markdown]
# ## Where the time goes
#
# Half the bits per element, but less than twice as fast. The *breakdown* of the busiest link's time shows the reasons:
# int8 also sends scales, and startup and per-hop sync do not shrink.

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
# The simulated program is also computed, on every element, in the order in which the chips would add. Errors are
# against the exact sum. BF16 has an error, too, as it rounds after every hop.

# %%
for label, run in result.runs.items():
    print(f"{label}: SQNR {run.numerics.sqnr_db:.1f} dB, MSE {run.numerics.mse:.2e}, "
          f"largest error {run.numerics.max_abs_error:.2f}")

# %% [markdown]
# ## Overrides
#
# Overrides replace values by their JSON pointer, like `--set` on the command line. For small tensors int8 is slower
# than BF16, because per-hop sync does not shrink with the bytes. `"/numerics": "off"` skips the errors, which is
# faster.

# %%
for size in ("64 KiB", "1 MiB", "16 MiB", "256 MiB"):
    changed = equarx.run(experiment, {"/tensor": {"bytes": size}, "/numerics": "off"})
    print(f"{size:>7}: {changed.runs['int8'].speedup:.2f}x")

# %% [markdown]
# ## Your own arrays
#
# One array per rank, or one array whose leading axis counts ranks: float32, float16 or bfloat16, from NumPy, PyTorch
# (on the CPU) or JAX. `outcome.result` is the result on every rank, bit for bit.

# %%
gradients = np.random.default_rng(1).standard_normal((8, 1024, 512)).astype("float32")
outcome = equarx.allreduce(gradients, format="int8", topology={"slice": "4x2"}, time=True)
exact = gradients.sum(axis=0, dtype="float64")
print(outcome)
print("shape", outcome.result.shape, "dtype", outcome.result.dtype)
print(f"MSE {outcome.mse:.2e}; NumPy: {np.mean((outcome.result - exact) ** 2):.2e}")

# %% [markdown]
# Fewer elements per scale mean a smaller error and more scales to send. In the strided layout of EQuARX the number of
# elements per scale follows from the size of the tensor, so small tensors have small errors for that reason alone.
# Blocks of 128 neighbours do not depend on the size:

# %%
blocks = equarx.allreduce(gradients, "int8", topology={"slice": "4x2"}, layout="contiguous", block=128, time=True)
for name, one in (("strided", outcome), ("blocks of 128", blocks)):
    print(f"{name}: {one.timing.elements_per_scale:g} elements share a scale, SQNR {one.sqnr_db:.1f} dB")

# %% [markdown]
# ## Invalid input
#
# Errors in a configuration or an array raise `equarx.InputError`, a ValueError: one sentence with the location and the
# remedy. `pointer` is the location as a JSON pointer, for programs that write configurations.

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
# ## Next steps
#
# - [my_tensor_through_every_format](my_tensor_through_every_format.ipynb): the error of every number format on your own
#   tensor.
# - [sweeping_slices](sweeping_slices.ipynb): many runs, as a table and a figure.
# - [docs/model.md](../../../docs/model.md): the assumptions of the simulated times, and their known errors.
