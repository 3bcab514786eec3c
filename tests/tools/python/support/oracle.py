"""Quantized AllReduces in plain NumPy, written from docs/numerics.md and docs/algorithms.md,
independent of the program."""
import numpy

REGISTER = 1024
LARGEST = {"int8": 127.0, "int6": 31.0, "fp8-e4m3": 448.0, "fp8-e5m2": 57344.0, "fp8-e4m3fnuz": 240.0,
           "fp8-e5m2fnuz": 57344.0}
FP8 = {"fp8-e4m3": (3, -6), "fp8-e5m2": (2, -14),  # bits of the mantissa, smallest normal exponent
       "fp8-e4m3fnuz": (3, -7), "fp8-e5m2fnuz": (2, -15)}


def round_to_fp8(values, name):
    """To the nearest code, ties to even, saturating; exact in float64."""
    bits, least = FP8[name]
    values = values.astype("f8")
    exponent = numpy.maximum(numpy.frexp(values)[1] - 1, least)
    step = numpy.exp2(exponent - bits)
    rounded = numpy.clip(numpy.rint(values / step) * step, -LARGEST[name], LARGEST[name]).astype("f4")
    # unsigned zero: -0 + 0 is 0
    return rounded + numpy.float32(0) if name.endswith("uz") else rounded


def quantize(minishard, name):
    """Codes (as float32) and FP32 scales by element, of a minishard in the strided layout."""
    groups = numpy.arange(minishard.size) % REGISTER
    amax = numpy.zeros(min(minishard.size, REGISTER), "f4")
    numpy.maximum.at(amax, groups, numpy.abs(minishard))
    scales = amax / numpy.float32(LARGEST[name])
    scales = numpy.where(amax == 0, numpy.float32(0), numpy.maximum(scales, numpy.float32(2.0**-126)))[groups]
    with numpy.errstate(invalid="ignore", divide="ignore"):
        quotients = numpy.nan_to_num(minishard / scales, nan=0.0, posinf=0.0, neginf=0.0)
    if name.startswith("int"):  # which have a single zero
        return numpy.clip(numpy.rint(quotients), -LARGEST[name], LARGEST[name]).astype("i1").astype("f4"), scales
    return round_to_fp8(quotients, name), scales


def through_wire(minishard, name):
    """A minishard after quantization and dequantization."""
    codes, scales = quantize(minishard, name)
    return codes * scales


def split(size, parts):
    """Bounds of the parts of `size` elements: on registers if each part gets at least one."""
    step = REGISTER if size // parts >= REGISTER else 1
    steps = -(-size // step)
    cuts = [min((steps // parts * part + steps % parts * part // parts) * step, size) for part in range(parts + 1)]
    return list(zip(cuts, cuts[1:]))


def for_each_minishard(tensors, segments, minishards, reduce):
    """The result of `reduce(inputs, owner, segment)` for every minishard of every shard of every
    segment."""
    ranks, size = tensors.shape
    shard = -(-size // (ranks * segments))
    padded = numpy.zeros((ranks, shard * ranks * segments), "f4")
    padded[:, :size] = tensors
    result = numpy.zeros(padded.shape[1], "f4")
    for segment in range(segments):
        for owner in range(ranks):
            begin = (segment * ranks + owner) * shard
            for first, last in split(shard, minishards):
                place = slice(begin + first, begin + last)
                result[place] = reduce(padded[:, place], owner, segment)
    return result[:size]


def ring(tensors, name, style, minishards):
    """EQuARX on a ring: every rank adds its own values to the decoded ones, and quantizes the sum
    for the next."""
    ranks = len(tensors)
    steps = [ranks - 1, ranks - 1] if style == "full-loop" else [ranks // 2, (ranks + 1) // 2 - 1]

    def arm(inputs, owner, count, stride):
        arrived = through_wire(inputs[(owner + count * stride) % ranks], name)
        for away in range(count - 1, 0, -1):
            arrived = through_wire(inputs[(owner + away * stride) % ranks] + arrived, name)
        return arrived

    def reduce(inputs, owner, segment):
        total = inputs[owner]
        if style == "semi-loop" or segment == 0:
            total = total + arm(inputs, owner, steps[0], ranks - 1)
        if (style == "semi-loop" or segment == 1) and steps[1] > 0:
            total = total + arm(inputs, owner, steps[1], 1)
        return through_wire(total, name)

    return for_each_minishard(tensors, 2 if style == "full-loop" else 1, minishards, reduce)


def two_shot(tensors, name, minishards):
    """Every owner adds the values received from the others, nearest first, and returns the sum."""
    ranks = len(tensors)

    def reduce(inputs, owner, _segment):
        total = inputs[owner]
        for away in range(1, ranks):
            total = total + through_wire(inputs[(owner - away) % ranks], name)
        return through_wire(total, name)

    return for_each_minishard(tensors, 1, minishards, reduce)
