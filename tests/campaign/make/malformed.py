"""Malformed configurations: valid ones with one to three places changed at random."""
import copy

from draw import Draw
from make import experiments, others, steps
from shrink import at, places

NUMBERS = [0, -1, 1, 2, 0.5, 1e-300, 1e300, 2**31, 2**32, 2**53 + 1, 2**63, 2**64, -2**63, 1e9, 3.0000001]
TEXTS = ["", " ", "0", "4x2", "0x4", "x", "-4x2", "4x-2", "1x1", "4x2x", "999999999999x9", "32 MiB", "0 B", "-1 B",
         "1 potato",
         "1e400 B", "1e-400 s", "inf s", "nan GB/s", "0 s", "0 GB/s", "1 GB", "3 b", "1000 s", "int8", "bf16", "normal", "ring",
         "tpu-v5e", "./chip.json", "./missing.json", "/", ".", "{i}", "(0,0)", "(9,9)", "a\nb", "ü", "\u2028", "\x00", "x" * 300, "null"]
OTHERS = [None, True, False, [], {}, [[]], {"": 0}, [1], ["a"], {"value": 1}]


def value(draw: Draw, old: object) -> object:
    way = draw.random()
    if way < 0.3:
        return draw.choice(NUMBERS)
    if way < 0.65:
        return draw.choice(TEXTS)
    if way < 0.85 or not isinstance(old, (int, float)) or isinstance(old, bool):
        return copy.deepcopy(draw.choice(OTHERS))
    return draw.choice([-old, old * 2, old + 1, old * 1000, old / 7])


def misspelt(draw: Draw, key: str) -> str:
    at_letter = draw.randrange(len(key)) if key else 0
    return draw.choice([key[:at_letter] + key[at_letter + 1:], key + "s", key.upper(), key.replace("_", "-"), "",
                        "$schema"])


def corrupt_once(draw: Draw, config: dict) -> None:
    every = list(places(config))
    if not every:
        return
    path = draw.choice(every)
    holder, key = at(config, path[:-1]), path[-1]
    way = draw.random()
    if way < 0.55:
        holder[key] = value(draw, holder[key])
    elif way < 0.7:
        del holder[key]
    elif isinstance(holder, list):
        holder.extend(copy.deepcopy(holder) if draw.chance(0.5) else [value(draw, None)])
    elif way < 0.85:
        holder[misspelt(draw, key)] = holder.pop(key) if draw.chance(0.7) else copy.deepcopy(holder[key])
    else:  # a value from another place
        other = draw.choice(every)
        holder[key] = copy.deepcopy(at(config, other))


def malformed(draw: Draw) -> dict:
    content = copy.deepcopy(experiments.experiment(draw) if draw.chance(0.65) else steps.step(draw))
    files = [made for made in content["files"].values() if isinstance(made, dict)
             and not {"npy", "safetensors"} & made.keys()]
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        corrupt_once(draw, draw.choice(files) if files and draw.chance(0.4) else content["config"])
    return content


def sweep(draw: Draw) -> dict:
    content = copy.deepcopy(others.sweep(draw))
    for _ in range(draw.randint(1, 2)):
        corrupt_once(draw, content["config"])
    return content


def calibration(draw: Draw) -> dict:
    content = copy.deepcopy(others.calibration(draw))
    for _ in range(draw.randint(1, 2)):
        corrupt_once(draw, content["config"])
    return content
