# %% [markdown]
# # My own format
#
# *I have an idea for a number format. How large is its error in a sum over eight chips, and would it be faster?* Two
# functions of NumPy are enough: the collective computes with them, and is timed by the bits and operations that they
# are stated to need. It takes some seconds. [docs/python.md](../../../docs/python.md#own-codecs) has the rules.

# %%
import sys

import equarx
import matplotlib.pyplot as plt
import numpy as np

SAVE = "--save" in sys.argv  # python3 my_own_format.py --save: the figure as a PNG file in the current folder

# %% [markdown]
# ## A codec
#
# FP8 E4M3 with one exponent for each row of 128 elements. `encode` gets the elements of a message as float32, in rows
# of 128, and may return several arrays, which `decode` gets. Values stay float32 here: their size on the wire is what
# `bits_per_element` gives, 8 bits and a shared byte. The operations per element are counted by hand, as in
# [docs/model.md](../../../docs/model.md); they cost time where a chip's vector unit is slower than its links.


# %%
def encode(x):
    exponent = np.ceil(np.log2(np.abs(x).max(axis=1, keepdims=True) / 448 + 1e-30))
    scaled = x / 2.0**exponent
    step = 2.0 ** np.maximum(np.floor(np.log2(np.abs(scaled) + 1e-30)) - 3, -9)  # 3 bits of mantissa, subnormals
    return np.rint(scaled / step) * step, exponent


def decode(codes, exponent):
    return codes * 2.0**exponent


codec = equarx.Codec(encode, decode, bits_per_element=8 + 8 / 128, ops_per_element=(12, 5), block=128, name="block-fp8")
print(codec)

# %% [markdown]
# The constructor has tried both functions: shapes, types, whether they give the same values twice, and whether each row
# is coded on its own. A scale of the whole tensor, say, would not be a format of messages:


# %%
def with_one_scale(x):
    scale = np.abs(x).max()
    return np.rint(x / scale * 127), scale


try:
    equarx.Codec(with_one_scale, lambda codes, scale: codes * scale / 127, 8, block=128)
except equarx.InputError as error:
    print(error)

# %% [markdown]
# ## One sum
#
# The codec is a format like any other, for every collective, algorithm and chip.

# %%
gradients = np.random.default_rng(1).standard_normal((8, 1024, 512)).astype("float32")
print(equarx.allreduce(gradients, codec, time=True))
print(equarx.allreduce(gradients, "mxfp8-e4m3", time=True))

# %% [markdown]
# ## Six algorithms, two machines
#
# Speedups are over the fastest algorithm without quantization on the same machine.

# %%
machines = {"8 TPU v5e": {"topology": {"slice": "4x2"}}, "8 H100": {"topology": {"switch": 8}, "hardware": "h100"}}
algorithms = ["equarx", "two-shot", "one-shot", "halving-doubling", "recursive-doubling", "quickreduce"]
compared = equarx.compare_formats(gradients, [codec, "int8", "mxfp8-e4m3"], algorithms=algorithms, machines=machines)
print(compared)

# %%
figure = compared.plot()
if SAVE:
    figure.savefig("my_own_format.png", dpi=150)
plt.show()

# %% [markdown]
# ## Conclusions
#
# - **A row of 128 with one exponent is about 1 dB better than `mxfp8-e4m3`** in each of these sums of normal values,
#   and smaller: the exponent is rounded up, so nothing is clipped, hop after hop. Rows with outliers will differ; try
#   your own tensor.
# - **Algorithms that quantize once or twice keep 4 to 6 dB** that a ring loses to its hops.
# - **The best algorithm depends on the machine**: EQuARX's ring on the TPU, `two-shot` on GPUs behind a switch.
#
# ## Limits
#
# - Times follow from the stated bits and operations, not from the speed of the NumPy code.
# - The sums are of normal values, and SQNR is not the quality of a model ([docs/quality.md](../../../docs/quality.md)).
