"""Codes of floats in NumPy, from their definition, as an independent oracle."""
import numpy as np

LARGEST = {"e4m3": 448.0, "e5m2": 57344.0, "e2m1": 6.0}


def values_of(code: str) -> np.ndarray:
    """All finite non-negative values of a format, in order (arXiv 2209.05433; OCP MX specification)."""
    exponent_bits, mantissa_bits, bias = {"e4m3": (4, 3, 7), "e5m2": (5, 2, 15), "e2m1": (2, 1, 1)}[code]
    steps = 2 ** mantissa_bits
    values = [mantissa / steps * 2.0 ** (1 - bias) for mantissa in range(steps)]
    for exponent in range(1, 2 ** exponent_bits):
        values += [(1 + mantissa / steps) * 2.0 ** (exponent - bias) for mantissa in range(steps)]
    return np.array([value for value in values if value <= LARGEST[code]])


def nearest(x: np.ndarray, code: str) -> np.ndarray:
    """Rounded to nearest, ties to the even mantissa; values that are too large saturate."""
    values, size = values_of(code), np.abs(x.astype(np.float64))
    above = np.clip(np.searchsorted(values, size), 1, len(values) - 1)
    low, high = values[above - 1], values[above]
    down = (size - low < high - size) | ((size - low == high - size) & ((above - 1) % 2 == 0))
    return np.copysign(np.where(down, low, high), x).astype(np.float32)


def samples() -> np.ndarray:
    """Values of all magnitudes, and all ties."""
    generator = np.random.default_rng(3)
    spread = generator.standard_normal(4000) * np.exp2(generator.uniform(-20, 18, 4000))
    ties = np.concatenate([(values[1:] + values[:-1]) / 2 for values in map(values_of, LARGEST)])
    return np.concatenate((spread, ties, -ties, [0.0])).astype(np.float32)
