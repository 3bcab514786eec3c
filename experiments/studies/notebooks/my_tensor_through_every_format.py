# %% [markdown]
# # My tensor through every format
#
# How large is the error of each number format on *this* tensor: quantized once, and summed over eight ranks by a
# quantized AllReduce? The example uses real activations; the next section shows how to load your own tensor. It takes a
# second. [docs/numerics.md](../../../docs/numerics.md) specifies every format.

# %%
import math
import pathlib
import sys

import equarx
import matplotlib.pyplot as plt
import numpy as np

SAVE = "--save" in sys.argv  # python3 my_tensor_through_every_format.py --save writes the figure as PNG

# %% [markdown]
# ## The tensor
#
# An array whose leading axis counts ranks: the input of each of eight ranks to the sum. These are partial sums of a
# transformer's feed-forward layer under tensor parallelism, 32 tokens by 512 channels on each rank
# ([source](../../../tests/fixtures/activations/README.md)). To use your own, replace the last line:
#
# - `.npy`: `tensor = np.load("mine.npy")`
# - `.safetensors`: `tensor = safetensors.numpy.load_file("mine.safetensors")["name"]`
# - PyTorch: `tensor = torch.load("mine.pt").float().cpu().numpy()`
#
# If it has no axis of ranks, split it: `np.stack(np.array_split(tensor, 8))` gives every rank an eighth of the rows, if
# their number is divisible by eight. This is enough for a first impression, but real partial sums differ between ranks
# in other ways than rows do.


# %%
def found(name: str) -> pathlib.Path:
    """Path of a file in the repository, or installation, that contains this notebook."""
    here = pathlib.Path(globals().get("__file__", "notebook")).resolve()  # notebooks run in their own folder
    for folder in here.parents:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"{name} is not above {here.parent}; move the notebook back, or load your own tensor")


tensor = np.load(found("tests/fixtures/activations/layer1_ranks8_tokens32.npy"))
ranks = len(tensor)
rms = math.sqrt(np.mean(tensor.astype("float64") ** 2))
print(f"{ranks} ranks of {tensor.shape[1:]}, {tensor.dtype}")
print(f"rms {rms:.2f}, largest {np.abs(tensor).max() / rms:.0f} rms")

# %% [markdown]
# The amax of as many normal values would be 5 rms. These have **heavy tails**, which makes quantization hard: a scale
# follows the largest value of its group, and leaves little resolution for all others.
#
# ## Every format
#
# By default `int8`, `int4` and the FP8 formats share scales in the strided layout of EQuARX. In a small tensor hardly
# two elements then share a scale, and the error would be small for that reason alone, so here they use blocks of 128
# neighbours. The other formats have fixed blocks of 32 (`mx...`) or 16 (`nvfp4`).
#
# An AllReduce comes in two styles: a `full-loop` ring sends a sum through all ranks and quantizes it before every hop;
# `semi-loop` goes half the way in both directions, so a sum is quantized half as often, for more bytes.


# %%
def options(entry: dict) -> dict:
    """Layout of scales, for a format of equarx.formats()."""
    return {"layout": "contiguous", "block": 128} if entry.get("layout") == "strided" else {}


rows, sums = [], {}
for entry in equarx.formats():
    if entry["shared_scale"]:  # one scale for the tensors of all ranks: not defined for a single tensor
        continue
    name, how = entry["name"], options(entry)
    once = equarx.quantize(tensor, name, **how)
    full, semi = (equarx.allreduce(tensor, name, ring=ring, **how) for ring in ("full-loop", "semi-loop"))
    rows.append({"format": name, "bits": round(once.bits_per_element, 2), "once": once.sqnr_db,
                 "full-loop": full.sqnr_db, "semi-loop": semi.sqnr_db})
    sums[name] = full

rows.sort(key=lambda row: (-row["bits"], -row["once"]))
print("SQNR in dB           bits       once  full-loop  semi-loop")
for row in rows:
    errors = "".join(f"{row[key]:11.1f}" for key in ("once", "full-loop", "semi-loop"))
    print(f"{row['format']:16} {row['bits']:8.2f}{errors}")

# %% [markdown]
# *bits* is per element, with its share of a scale. *once* is a single quantization without a sum; the other two are for
# the sum over all ranks. `inf` means no error: the tensor is FP32 already.
#
# ## SQNR by bits
#
# One row per format, from many bits to few. FP32 is omitted: it is so far to the right that all others would be at the
# left edge.

# %%
LOOKS = {"once": ("quantized once, no sum", "o", "#222222"),
         "full-loop": ("AllReduce, full-loop", "s", "#0072B2"), "semi-loop": ("AllReduce, semi-loop", "^", "#D55E00")}
shown = [row for row in rows if row["bits"] < 32]
places = range(len(shown))

figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
axes.hlines(places, [row["full-loop"] for row in shown], [row["once"] for row in shown], color="#bbbbbb", zorder=1)
for key, (label, marker, colour) in LOOKS.items():
    axes.scatter([row[key] for row in shown], places, label=label, marker=marker, color=colour, s=28)
for place in places[1:]:
    if shown[place]["bits"] != shown[place - 1]["bits"]:
        axes.axhline(place - 0.5, color="#dddddd", linewidth=0.8)
axes.set_yticks(places, [f"{row['format']}  {row['bits']:5.2f}" for row in shown])
axes.set(xlabel="SQNR (dB), higher is better", ylabel="format, and bits per element including scales",
         title=f"SQNR of {len(shown)} formats: one quantization, and a sum over {ranks} ranks")
axes.invert_yaxis()
axes.grid(axis="x", color="#eeeeee")
axes.set_axisbelow(True)
axes.legend(loc="lower right")
if SAVE:
    figure.savefig("my_tensor_through_every_format.png", dpi=150)
plt.show()

# %% [markdown]
# ## Equal SQNR, different errors
#
# SQNR is one number for all elements, dominated by the large ones. By channel, the last axis, two formats of equal SQNR
# may differ: here the full-loop sums of three formats of 8.25 bits. *clipped* is the share of quantized elements beyond
# the largest code.

# %%
exact = tensor.sum(axis=0, dtype="float64")
others = tuple(range(exact.ndim - 1))
power = np.sum(exact**2, axis=others)
print("SQNR in dB      all   worst tenth of channels   median channel   clipped")
for name in ("int8", "fp8-e4m3", "mxfp8-e4m3"):
    full = sums[name]
    errors = np.sum((full.result - exact) ** 2, axis=others)
    worst, median = -10 * np.log10(np.percentile(errors[power > 0] / power[power > 0], [90, 50]))
    print(f"{name:10} {full.sqnr_db:8.1f} {worst:18.1f} or less {median:16.1f} {full.clipped_fraction:9.2%}")

# %% [markdown]
# ## Conclusions
#
# For these activations; repeat the comparison with your own tensor:
#
# - **A sum costs more than one quantization.** Over eight ranks a full-loop ring loses 3 to 9 dB compared with a single
#   quantization. A semi-loop ring regains 1.4 to 4 dB of it, where elements share scales.
# - **The error of one quantization does not predict the error of the sum.** `fp8-e4m3` loses 3 dB in the sum,
#   `mxfp8-e4m3` 8 dB at equal bits. Its scales are powers of two, rounded down, so the largest elements of a block may
#   be clipped, always towards zero, and again at every hop.
# - **Six bits can match eight.** `mxfp6-e2m3` is within 1.5 dB of `mxfp8-e4m3`, and `mxfp6-e3m2` of `mxfp8-e5m2`: they
#   have equally many mantissa bits, and where 32 neighbours share a scale, more exponents are hardly needed.
# - **`nvfp4` is the best format of four bits**: 6 dB better than `mxfp4` in the sum, for a quarter of a bit.
# - **Equal SQNR may hide different errors.** `int8` and `fp8-e4m3` are within a decibel. But the largest element of a
#   block determines the step of `int8` for the whole block, so next to an outlier a tenth of the channels are 9 dB
#   worse than the whole. The step of `fp8-e4m3` follows the element: its channels differ less, and its median channel
#   is worse.
#
# ## Limits
#
# - Model quality is not measured. SQNR compares numbers, not answers; it shows which formats deserve an evaluation.
# - Other layers may differ. This is one layer of a small model, 32 tokens.
# - `int8` depends on its options: blocks of 32 are better and cost more bits. Change `options()`, or let
#   `equarx.tune()` find the best ([docs/tuning.md](../../../docs/tuning.md)).
# - Speed is not measured. Fewer bits are fewer bytes, but not proportionally less time:
#   [sweeping_slices](sweeping_slices.ipynb).
