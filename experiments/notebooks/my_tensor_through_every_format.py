# %% [markdown]
# # My tensor through every format
#
# What does each number format do to *these* numbers: quantized once, and summed over eight ranks by an AllReduce that
# quantizes on the way? Here with real activations; the next text says how to take a tensor of your own.
# It takes a second. [docs/numerics.md](../../docs/numerics.md) has the rules of every format.

# %%
import math
import pathlib
import sys

import equarx
import matplotlib.pyplot as plt
import numpy as np

SAVE = "--save" in sys.argv  # python3 my_tensor_through_every_format.py --save: the figure as a PNG file, here

# %% [markdown]
# ## The tensor
#
# An array whose leading axis counts ranks: what each of eight ranks brings to the sum. These are partial sums of a
# transformer's feed-forward layer, 32 tokens by 512 channels on each rank, as tensor parallelism makes them
# ([where they come from](../../tests/fixtures/activations/README.md)). For one of your own, replace the last line:
#
# - `.npy`: `tensor = np.load("mine.npy")`
# - `.safetensors`: `tensor = safetensors.numpy.load_file("mine.safetensors")["name"]`
# - PyTorch: `tensor = torch.load("mine.pt").float().cpu().numpy()`
#
# If it has no axis of ranks, cut it: `np.stack(np.array_split(tensor, 8))` gives every rank an eighth of the rows, if
# their number divides by eight. That does for a first look, but real partial sums differ from rank to rank in another
# way than rows do.


# %%
def found(name: str) -> pathlib.Path:
    """A file of the repository, or of an installation, that this notebook lies in."""
    here = pathlib.Path(globals().get("__file__", "notebook")).resolve()  # notebooks run in the folder that they lie in
    for folder in here.parents:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"there is no {name} above {here.parent}; move the notebook back, or load your own tensor")


tensor = np.load(found("tests/fixtures/activations/layer1_ranks8_tokens32.npy"))
ranks = len(tensor)
rms = math.sqrt(np.mean(tensor.astype("float64") ** 2))
print(f"{ranks} ranks of {tensor.shape[1:]}, {tensor.dtype}")
print(f"rms {rms:.2f}, largest {np.abs(tensor).max() / rms:.0f} rms")

# %% [markdown]
# The largest of as many normal values would be 5 rms. So these have **heavy tails**, which is what makes quantization
# hard: a scale follows the largest value of its group, and all others get what is left.
#
# ## Every format
#
# `int8`, `int4` and the FP8 formats share scales in the strided layout of EQuARX unless told otherwise. Of a small
# tensor hardly two elements then share one, and the error would be small for that reason alone, so they get blocks of
# 128 neighbours here. The others have blocks of their own, of 32 (`mx...`) or 16 (`nvfp4`).
#
# An AllReduce comes in two styles: a `full-loop` ring sends a sum through all ranks and quantizes it before every hop;
# `semi-loop` goes half the way in both directions, so a sum is quantized half as often, for more bytes.


# %%
def options(entry: dict) -> dict:
    """Of a format of equarx.formats(): how elements share scales."""
    return {"layout": "contiguous", "block": 128} if entry.get("layout") == "strided" else {}


rows, sums = [], {}
for entry in equarx.formats():
    if entry["shared_scale"]:  # of the tensors of all ranks: its errors say more of them than of one tensor
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
# *bits* are those of an element and its share of a scale. *once* is one quantization and no sum; the other two are of
# the sum over all ranks. `inf` is no error at all: the tensor is FP32 already.
#
# ## SQNR against bits
#
# A row for each format, from many bits to few. FP32 is left out: it is so far to the right that all others would be at
# the left edge.

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
axes.set(xlabel="SQNR (dB), more is better", ylabel="format, and bits per element with its share of scales",
         title=f"What {len(shown)} formats do to a tensor, and to its sum over {ranks} ranks")
axes.invert_yaxis()
axes.grid(axis="x", color="#eeeeee")
axes.set_axisbelow(True)
axes.legend(loc="lower right")
if SAVE:
    figure.savefig("my_tensor_through_every_format.png", dpi=150)
plt.show()

# %% [markdown]
# ## The same SQNR, other errors
#
# SQNR is one number for all elements, and the large ones decide what counts as signal. By channel, the last axis, two
# formats of the same SQNR may differ: here the full-loop sums of three formats of 8.25 bits. *clipped* is the share of
# elements that were larger than the largest code when they were quantized.

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
# ## What may be concluded
#
# Of these activations; with your own tensor, look again:
#
# - **A sum costs more than one quantization.** Over eight ranks a full-loop ring loses 3 to 9 dB against quantizing
#   once. A semi-loop ring gets 1.5 to 4 dB of that back, where elements share scales.
# - **How well a format does once says little of the sum.** `fp8-e4m3` loses 3 dB on the way, `mxfp8-e4m3` 8 dB for the
#   same bits. Its scales are powers of two, rounded down, so the largest elements of a block may be clipped, always
#   towards zero, and with every hop again.
# - **Six bits can do what eight do.** `mxfp6-e2m3` is within 1.5 dB of `mxfp8-e4m3`, and `mxfp6-e3m2` of `mxfp8-e5m2`:
#   they have the same bits of mantissa, and where 32 neighbours share a scale, more exponents are hardly needed.
# - **Of four bits, `nvfp4` is best**: 6 dB above `mxfp4` in the sum, for a quarter of a bit.
# - **The same SQNR may hide other errors.** `int8` and `fp8-e4m3` are within a decibel. But the largest of a block
#   decides the step of `int8` for all of it, so beside an outlier a tenth of the channels are 9 dB worse than the
#   whole. The step of `fp8-e4m3` follows the element: its channels differ less, and its median channel is worse.
#
# ## What may not
#
# - Whether a model gets worse. SQNR is about numbers, and not about answers; it says which formats are worth trying.
# - Anything about other layers. This is one layer of a small model, 32 tokens.
# - That `int8` *is* so: blocks of 32 are better and cost more bits. Change `options()` and see, or let
#   `equarx.tune()` look for the best ([docs/tuning.md](../../docs/tuning.md)).
# - How fast it is. Fewer bits are fewer bytes, but not proportionally less time:
#   [sweeping_slices](sweeping_slices.ipynb).
