"""95 % intervals of means over models trained from several seeds, and over evaluated sequences."""
import math

import numpy as np

NORMAL = 1.960  # 97.5 % quantile
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}  # 97.5 % quantiles of Student's t, by the number of values


def over_sequences(values) -> tuple[float, float]:
    """Mean over the sequences of one model, and half of its interval."""
    values = np.asarray(values)
    return float(values.mean()), float(NORMAL * values.std(ddof=1) / math.sqrt(len(values)))


def over_seeds(values) -> tuple[float, float]:
    """Mean over seeds, and half of its interval by Student's t: 0 for one seed."""
    half = STUDENT[len(values)] * np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return float(np.mean(values)), float(half)


def over_both(values) -> tuple[float, float]:
    """Mean of [seeds, sequences], and half of an interval for other seeds and other sequences. All models are
    evaluated on the same sequences, so a value is mean + effect of the seed + effect of the sequence + rest, all
    random. The variance of the mean has two parts: the spread of the seeds' means, which includes the rest and has
    Student's t, and the effect of sequences that seeds share, the spread of the sequences' means without the rest.
    Half an interval is the root of the sum of the squares of both."""
    values = np.asarray(values)
    seeds, sequences = values.shape
    if seeds == 1:
        return over_sequences(values[0])
    mean, half = over_seeds(values.mean(1))
    rest = values - values.mean(1, keepdims=True) - values.mean(0) + values.mean()
    rest_variance = np.square(rest).sum() / ((seeds - 1) * (sequences - 1))
    shared = max(values.mean(0).var(ddof=1) - rest_variance / seeds, 0.0) / sequences
    return mean, math.hypot(half, NORMAL * math.sqrt(shared))
