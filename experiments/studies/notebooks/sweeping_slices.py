# %% [markdown]
# # Sweeping slices
#
# From which tensor size on is a quantized AllReduce faster than a BF16 one, and how does this break-even size depend on
# the slice and the chip? Two methods: a loop over `equarx.run`, and `equarx.sweep`, which uses all cores. It takes
# seconds. [docs/sweeps.md](../../../docs/sweeps.md) is the guide to sweeps.

# %%
import sys

import equarx
import matplotlib.pyplot as plt
import numpy as np

SAVE = "--save" in sys.argv  # python3 sweeping_slices.py --save: the figure as a PNG file in the current folder

# %% [markdown]
# ## The experiment
#
# One point of the sweep. Elements share a scale in blocks of 128, so scales add 1/32 to the bytes at any size.
# `"timed_as": "step"`: inside a running program, whose start is not counted. `"numerics": "off"`: times do not depend
# on values, so none are computed.

# %%
experiment = {
    "hardware": "tpu-v5e",
    "topology": {"slice": "4x2"},
    "tensor": {"bytes": "1 MiB"},
    "timed_as": "step",
    "collectives": [
        {"label": "bf16", "algorithm": "ring", "format": "bf16"},
        {"label": "int8", "algorithm": "equarx", "format": "int8", "layout": "contiguous", "block": 128},
    ],
    "baseline": "bf16",
    "numerics": "off",
}

# %% [markdown]
# ## A loop
#
# The hardware file of a chip lists its slices. The tensor is the input of each chip to the sum.

# %%
print("slices:", ", ".join(equarx.hardware("tpu-v5e").slices.list))

SLICES = ["2x2", "4x2", "4x4", "8x8"]
for shape in SLICES:
    run = equarx.run(experiment, {"/topology/slice": shape}).runs["int8"]
    print(f"{shape}: {run.time * 1e6:5.0f} us, {run.speedup:.2f}x")

# %% [markdown]
# ## A sweep
#
# All combinations of some keys, in parallel on all cores; the last key varies fastest. Given a `folder`, an interrupted
# sweep resumes. There is a row per run, with its axes by their JSON pointers and all numbers of
# [docs/results.md](../../../docs/results.md).
#
# Parameters of a chip are uncertain. `uncertainty` draws 50 samples of the chip's parameters within their uncertainty,
# and gives the 68 % interval of each speedup.

# %%
CHIPS = ["tpu-v5e", "tpu-v6e"]
KIB = 1024
SIZES = [4**power * KIB for power in range(3, 10)]  # 64 KiB to 256 MiB
swept = equarx.sweep(experiment | {"uncertainty": {"samples": 50}},
                     {"/hardware": CHIPS, "/topology/slice": SLICES, "/tensor/bytes": SIZES})
rows = [row for row in swept.to_rows() if row["label"] == "int8"]
print(len(swept), "runs,", len(swept.failures), "failures")

# %% [markdown]
# ## A table
#
# `to_frame()` makes a pandas DataFrame of the rows, if pandas is installed. Speedups of int8 over BF16, by chip and
# slice:


# %%
def size_text(size: int) -> str:
    """Bytes with a unit."""
    return f"{size // KIB} KiB" if size < KIB**2 else f"{size // KIB**2} MiB"


try:
    frame = swept.to_frame()
    table = frame[frame.label == "int8"].pivot(index=["/hardware", "/topology/slice"], columns="/tensor/bytes",
                                               values="speedup")
    print(table.rename(columns=size_text).round(2).to_string())
except ImportError as missing:
    print(missing)

# %% [markdown]
# ## A figure
#
# Below the line at 1, int8 is slower than BF16. Bands are 68 % intervals.


# %%
def column(name: str, chip: str, shape: str) -> list[float]:
    """A value of the rows of a chip and slice, by size."""
    return [row[name] for row in rows if (row["/hardware"], row["/topology/slice"]) == (chip, shape)]


figure, panels = plt.subplots(1, len(CHIPS), figsize=(10, 4), sharey=True, layout="constrained")
colours = plt.get_cmap("viridis")
for chip, axes in zip(CHIPS, panels):
    for place, (shape, marker) in enumerate(zip(SLICES, "os^D")):
        colour = colours(place / len(SLICES))
        axes.plot(SIZES, column("speedup", chip, shape), marker=marker, markersize=4, color=colour, label=shape)
        axes.fill_between(SIZES, column("uncertainty/speedup_low", chip, shape),
                          column("uncertainty/speedup_high", chip, shape), color=colour, alpha=0.2, linewidth=0)
    axes.axhline(1, color="#222222", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_xticks(SIZES[::2], [size_text(size) for size in SIZES[::2]])
    axes.set(title=chip, xlabel="tensor on each chip")
    axes.grid(color="#eeeeee")
panels[0].set(ylabel="speedup of int8 over BF16", ylim=(0, 2))
panels[0].legend(title="slice", loc="upper left", frameon=False)
if SAVE:
    figure.savefig("sweeping_slices.png", dpi=150)
plt.show()

# %% [markdown]
# ## Break-even size
#
# Interpolated from the lines. A larger slice needs a larger tensor; divided by the number of chips, that is, per shard,
# the break-even size is nearly the same.

# %%
for chip in CHIPS:
    for shape in SLICES:
        rising = np.maximum.accumulate(column("speedup", chip, shape))
        size = 2 ** np.interp(1, rising, np.log2(SIZES))
        shard = size / equarx.topology({"slice": shape}, chip).chips
        print(f"{chip} {shape}: a tensor of {size / KIB:5.0f} KiB, a shard of {shard / KIB:3.0f} KiB")

# %% [markdown]
# ## Cause
#
# A step of a quantized ring takes core time, for several passes and a barrier with the neighbours, which BF16 does not
# need; the break-even size grows with this time. `equarx.hardware` gives the source of each parameter, and
# `sensitivity=True` the parameters that a run is most sensitive to.

# %%
for chip in CHIPS:
    wait = equarx.hardware(chip).parameters.barrier_time
    spread = f"+- {wait.standard_error}" if "standard_error" in wait else " to ".join(wait.range)
    print(f"{chip}: barrier_time {wait.value}, {wait['class']}, {spread}")

# %% [markdown]
# ## Conclusions
#
# - Large tensors are 1.8 to 1.9 times as fast on any of these slices; small ones are slower, on both chips.
# - The size of a chip's shard decides, as every step sends one: with equal bytes per chip, a larger slice has smaller
#   shards, and a smaller speedup.
# - TPU v6e has twice the break-even size: its links are twice as fast, and its steps take as long. The latter is
#   assumed and not measured, hence the wide bands.
# - The EQuARX paper reports hardly any slowdown below 2 MiB: of programs of their own, whose start hides it
#   ([docs/model.md](../../../docs/model.md#2-calibration-of-tpu-v5e)).
#
# `equarx.tune()` finds faster collectives, and [docs/plots.md](../../../docs/plots.md) draws sweeps without
# Python.
