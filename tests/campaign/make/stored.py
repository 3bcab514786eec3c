"""Formats of stored tensors, and tensors for them."""
import copy

from draw import Draw
from make import malformed

TABLES = {"nf2": 4, "nf3": 8, "nf4": 16, "fp4": 15}
TYPES = ["fp32", "fp16", "bf16"]


def integer(draw: Draw, shifted: bool) -> dict:
    bits = draw.randint(1 if shifted else 2, 8)
    made = {"integer": bits}
    if draw.chance(0.3):
        made["levels"] = draw.randint(2 if shifted else 3, 1 << bits)
    return made


def minifloat(draw: Draw) -> dict:
    exponent = draw.randint(2, 5)
    mantissa = draw.randint(1, 7 - exponent)
    made = {"minifloat": f"e{exponent}m{mantissa}"}
    if draw.chance(0.3):
        made["bias"] = draw.randint(0, 20)
    if draw.chance(0.5):
        made["special"] = draw.choice(["none", "nan", "ieee"])
    return made


def table(draw: Draw) -> dict:
    if draw.chance(0.2):
        return {"table": "k-means", "bits": draw.randint(1, 3), "type": draw.choice(TYPES), "weighted": draw.chance(0.3)}
    if draw.chance(0.5):
        return {"table": draw.choice(list(TABLES))}
    return {"table": sorted({round(draw.uniform(-2, 2), 2) for _ in range(draw.randint(4, 20))} | {-1.0, 0.5})}


def scale(draw: Draw, shifted: bool) -> dict:
    rules = ["min-max", "search", "quantile"] if shifted else [
        "abs-max", "power-of-two-up", "power-of-two-down", "given", "search", "quantile"]
    made = {"rule": draw.choice(rules), "type": draw.choice(TYPES)}
    if shifted:
        made |= {"zero_point": draw.choice(["rounded", "float"]), "with_zero": draw.chance(0.5)}
    if made["rule"].startswith("power") and draw.chance(0.5):
        made["type"] = "e8m0"
    if made["rule"] == "abs-max" and draw.chance(0.3):
        made |= {"type": "e4m3", "of_tensor": draw.chance(0.7)}
    if draw.chance(0.2):
        made["at_least"] = draw.choice([1e-5, 0.25])
    if not shifted and draw.chance(0.2):
        made["largest"] = draw.choice([1, 6, 7.5])
    extras = {"quantile": {"quantile": draw.choice([0.5, 0.9, 1])}, "given": {"value": draw.choice([0.5, 3])},
              "search": {"shrink_to": draw.choice([0.01, 0.5, 1]), "steps": draw.randint(1, 9), "norm": draw.choice([1, 2, 2.4])}}
    return made | extras.get(made["rule"], {})


def form(draw: Draw, shape: list[int]) -> dict:
    rows, columns = shape
    shifted = draw.chance(0.4)
    elements = integer(draw, shifted) if shifted else draw.choice([integer(draw, False), minifloat(draw), table(draw)])
    along = draw.choice(["tensor", "row", "row", "column", "strided"])
    lengths = {"tensor": [0, 8, 24, 64, 7], "row": [0, *(n for n in (1, 2, 8, 16, 64) if columns % n == 0)],
               "column": [0, *(n for n in (1, 2, 4) if rows % n == 0)], "strided": [1, 3, 16]}
    made = {"source": "drawn", "elements": elements, "groups": {"along": along, "length": draw.choice(lengths[along])}}
    if elements.get("table") != "k-means":
        made["scale"] = scale(draw, shifted)
    if draw.chance(0.25):
        made["apart"] = {"largest": draw.choice([0, 0.01, 0.2]), "important": draw.choice([0, 0, 0.1]),
                         "type": draw.choice(TYPES), "index_bits": draw.choice([0, 16, 32])}
    if draw.chance(0.15):
        made["before"] = draw.choice([{"hadamard": draw.choice([1, 2, 8])},
                                      {"column_factors": [draw.choice([0.5, 1, -3]) for _ in range(columns)]}])
    if draw.chance(0.4):
        made["ties"] = draw.choice(["even", "away", "up"])
    return made


def stored(draw: Draw) -> dict:
    """A tensor, and a format that suits it."""
    shape = [draw.choice([1, 4, 12]), draw.choice([16, 64, 192])]
    tensor = {"dtype": draw.choice(["f4", "f2", "bf16"]), "seed": draw.randrange(1000), "shape": shape,
              "malformed": draw.chance(0.1), "factor": draw.choice([1.0, 1.0, 1e-6, 1e5])}
    made = form(draw, shape)
    files = {"tensor.npy": {"npy": tensor}, "format.json": made}
    if made["elements"].get("weighted") or made.get("apart", {}).get("important"):
        files["importance.npy"] = {"npy": tensor | {"dtype": "f4", "malformed": False, "squared": True}}
    return {"config": {}, "files": files}


def malformed_stored(draw: Draw) -> dict:
    content = copy.deepcopy(stored(draw))
    for _ in range(draw.randint(1, 3)):
        malformed.corrupt_once(draw, content["files"]["format.json"])
    return content
