"""One candidate: algorithm, format and tiling that mostly suit each other and the machine."""
from draw import Draw

PLAIN = ["fp32", "bf16", "fp16", "int8-cast", "fp8-e4m3-cast", "fp8-e5m2-cast", "fp8-e4m3fnuz-cast",
         "fp8-e5m2fnuz-cast", "float32", "bfloat16", "half"]
SCALED = ["int8"] * 6 + ["int6", "int4", "fp8-e4m3", "fp8-e5m2", "fp8-e4m3fnuz", "fp8-e5m2fnuz", "mxfp8-e4m3",
                         "mxfp8-e5m2", "mxfp6-e2m3", "mxfp6-e3m2", "mxfp4", "mxint8", "nvfp4", "nvfp4-block",
                         "quickreduce-int8", "quickreduce-int6", "quickreduce-int4", "quickreduce-fp8", "zeropp-int8",
                         "zeropp-int4", "sdp4bit-int8", "sdp4bit-int4", "s8", "i4", "e4m3", "mxfp4_e2m1"]
SHARED = ["fp8lm-e4m3", "fp8lm-e5m2", "global-qsgd-int8", "global-qsgd-exp8"]
# Type names of other tools denote formats without scales in some places and formats with scales in
# others.
FREE = ("int8", "int6", "int4", "fp8-e4m3", "fp8-e5m2", "fp8-e4m3fnuz", "fp8-e5m2fnuz")
# algorithm: (collectives that it supports, supports plain types, supports quantized ones)
ALGORITHMS = {
    "ring": (("all-reduce", "reduce-scatter", "all-gather", "broadcast"), True, False),
    "equarx": (("all-reduce", "reduce-scatter", "all-gather", "broadcast"), False, True),
    "torus": (("all-reduce", "reduce-scatter", "all-gather"), True, True),
    "halving-doubling": (("all-reduce", "reduce-scatter", "all-gather"), True, True),
    "recursive-doubling": (("all-reduce",), True, True),
    "one-shot": (("all-reduce",), True, True),
    "two-shot": (("all-reduce",), True, True),
    "nvls": (("all-reduce", "reduce-scatter", "all-gather"), True, False),
    "node-ring": (("all-reduce", "reduce-scatter", "all-gather"), True, False),
    "tree": (("all-reduce",), True, False),
    "direct": (("reduce-scatter", "all-gather", "all-to-all", "broadcast"), True, True),
    "pairwise": (("all-to-all",), True, True),
    "hierarchical-direct": (("all-to-all",), True, True),
    "hierarchical": (("all-reduce", "reduce-scatter", "all-gather"), True, True),
    "hierarchical-two-shot": (("all-reduce", "reduce-scatter", "all-gather"), True, True),
    "qgz": (("all-reduce", "reduce-scatter"), True, True),
    "quickreduce": (("all-reduce",), True, True),
    "binomial-tree": (("all-reduce",), True, False),
    "server": (("all-reduce",), True, True),
    "neighbors": (("neighbor-average",), True, True),
    "auto": (("all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "neighbor-average"), True, True),
}
OF_SLICES = ("hierarchical", "hierarchical-two-shot", "qgz")
OF_RINGS = ("ring", "equarx", "torus", "hierarchical", "auto")
IN_TWOS = ("ring", "torus", "halving-doubling", "binomial-tree")
GRIDS = ("slice", "mesh", "torus")


def fits(algorithm: str, collective: str, topology: dict, chips: int) -> bool:
    if collective not in ALGORITHMS[algorithm][0]:
        return False
    if algorithm in ("node-ring", "tree"):
        return "network" in topology and "switch" in topology
    if "network" in topology:
        return algorithm in OF_SLICES + ("two-shot", "one-shot", "direct", "pairwise", "hierarchical-direct", "quickreduce", "auto")
    if algorithm in OF_SLICES + ("hierarchical-direct",) or ("avoid" in topology and algorithm not in ("ring", "equarx", "auto")):
        return False
    if algorithm == "nvls":
        return "switch" in topology and chips > 2
    if algorithm == "neighbors":
        return "switch" not in topology
    if algorithm == "torus":
        return any(kind in topology for kind in GRIDS)
    if algorithm in ("halving-doubling", "recursive-doubling", "binomial-tree"):
        return chips & (chips - 1) == 0
    return True


def encoding(draw: Draw, made: dict) -> None:
    """Keys of the format that `made` names."""
    name = made.get("format", "int8")
    if name in FREE:
        if draw.chance(0.35):
            made["layout"] = "contiguous"
            made["block"] = draw.choice([1, 2, 3, 16, 32, 128, 1000])
        if draw.chance(0.2):
            made["scale"] = draw.choice(["fp32", "bf16"])
        if draw.chance(0.15) and not name.startswith(("int6", "int4")):
            made["rounding"] = "stochastic"
    elif name.startswith(("zeropp", "sdp4bit")) and draw.chance(0.3):
        made["block"] = draw.choice([8, 16, 32, 64])
    elif name.startswith("mx") and draw.chance(0.2):
        made["scale"] = draw.choice(["fp32", "bf16", "e8m0", "e4m3"])
    if (name.startswith("mx") or "scale" in made) and made.get("scale", "e8m0") == "e8m0" and draw.chance(0.4):
        made["scale_rounding"] = draw.choice(["floor", "up", "up"] if "int" in name else ["floor", "up", "even"])


ONE_KERNEL = ("one-shot", "two-shot", "direct")


def arithmetic(draw: Draw, made: dict, kind: str) -> None:
    """How sums are formed, where that is open."""
    name, form = made["algorithm"], made.get("format", "")
    if kind not in ("all-reduce", "reduce-scatter") or name in ("auto", "quickreduce", "qgz") or "between" in made or \
            form in SHARED or form.startswith(("quickreduce", "zeropp")):
        return
    keys: dict = {}
    if draw.chance(0.5):
        keys["accumulate"] = draw.choice(["fp32", "bf16", "fp16"])
    elif draw.chance(0.5):
        plain = form in ("", *PLAIN) and name != "equarx"
        keys["round"] = draw.choice(["hop", "rank"] + ["once"] * plain)
    if name in ONE_KERNEL[1:] and draw.chance(0.4):
        keys["order"] = draw.choice(["arrival", "ranks", "owner"])
    if draw.chance(0.2):
        keys["subnormals"] = draw.choice(["keep", "flush"])
    if draw.chance(0.2):
        keys["overflow"] = draw.choice(["by-type", "saturate", "infinity"])
    casts = "cast_to" in made or made.get("hadamard")
    if draw.chance(0.3) and not casts:
        keys["residual"] = draw.choice(["before", "after"] if name in ONE_KERNEL else ["none", "after"])
    gathers_codes = kind == "all-reduce" and name in ("equarx", "torus", "two-shot", "halving-doubling") and \
        made.get("quantize") != "reduce-scatter" and (name == "equarx" or form not in ("", *PLAIN))
    if gathers_codes and not casts and draw.chance(0.3):
        keys["owner"] = draw.choice(["sent", "summed"])
    if keys:
        made["arithmetic"] = keys


def cuts(draw: Draw, made: dict, quantized: bool) -> None:
    if draw.chance(0.5):
        made["microshards"] = draw.choice([1, 1, 2, 2, 3, 4, 8])
    if draw.chance(0.5):
        made["minishards"] = draw.choice([1, 1, 2, 2, 3, 5])
    elif quantized and draw.chance(0.3):
        made["elements_per_scale"] = draw.choice([1, 2, 32, 64, 100, 128, 512])
    if not {"minishards", "microshards"} & made.keys() and draw.chance(0.3):
        made["cuts"] = draw.choice(["fastest", "by-size"])


def collective(draw: Draw, kind: str, topology: dict, chips: int) -> dict:
    names = [name for name in ALGORITHMS if fits(name, kind, topology, chips)] or ["auto"]
    algorithm = draw.choice(names)
    made: dict = {"algorithm": algorithm}
    _, plain, scaled = ALGORITHMS[algorithm]
    quantized = scaled and (not plain or draw.chance(0.6))
    if quantized:
        if algorithm != "equarx" or draw.chance(0.7):
            made["format"] = draw.choice(SCALED)
        encoding(draw, made)
        if kind == "all-reduce" and algorithm not in ("one-shot", "recursive-doubling") and draw.chance(0.3):
            made["quantize"] = draw.choice(["reduce-scatter", "all-gather", "both"])
        if kind in ("all-reduce", "reduce-scatter") and draw.chance(0.15):
            made["hadamard"] = draw.chance(0.8)
    else:
        plain_format(draw, made, kind)
    if algorithm in OF_RINGS and draw.chance(0.5):
        made["ring"] = draw.choice(["full-loop", "semi-loop"])
    if algorithm in OF_SLICES and draw.chance(0.5):
        scaled = [name for name in SCALED if name not in ("s8", "i4", "e4m3")]
        made["between"] = {"format": draw.choice(scaled if quantized or draw.chance(0.5) else ["bf16", "fp32"])}
        if made["between"]["format"] in FREE or made["between"]["format"].startswith("mx"):
            encoding(draw, made["between"])
    if "switch" in topology and draw.chance(0.3):
        made["protocol"] = draw.choice(["auto", "ll", "ll128", "simple"])
    elif draw.chance(0.1):
        made["thread_blocks"] = draw.choice([1, 4, 20, 132])
    if draw.chance(0.1):
        made["cast_to"] = draw.choice(["fp32", "bf16", "fp16", "fp8-e4m3", "fp8-e5m2", "half"])
        made["casts"] = draw.choice(["fused", "separate"])
    if draw.chance(0.25):
        arithmetic(draw, made, kind)
    if draw.chance(0.8):
        cuts(draw, made, quantized)
    return made


def plain_format(draw: Draw, made: dict, kind: str) -> None:
    way = draw.random()
    if way < 0.5:
        made["format"] = draw.choice(PLAIN)
    elif way < 0.65 and kind in ("all-reduce", "reduce-scatter"):
        shared = SHARED if made["algorithm"] in IN_TWOS else SHARED[:-1]
        made["format"] = draw.choice(shared)
        if made["format"].startswith("fp8lm") and draw.chance(0.5):
            made["mu"] = draw.choice(["root", "pre-scaling", "post-scaling", 0.5, 1, 3.25])


def collectives(draw: Draw, kind: str, topology: dict, chips: int) -> list[dict]:
    made = [collective(draw, kind, topology, chips) for _ in range(draw.choice([1, 1, 2, 3]))]
    for i, one in enumerate(made):
        if i > 0 or draw.chance(0.6):  # generated labels may be equal
            one["label"] = f"{draw.choice(['a', 'way', 'mit Umlaut ü', 'x/y~1'])} {i}"
    return made
