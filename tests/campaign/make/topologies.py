"""Machines of a few chips, and the names of the chips."""
import itertools
import math

from draw import Draw, quantity, time

SLICES = {"tpu-v5e": ["2x2", "2x4", "4x2", "4x4", "4x8"], "tpu-v6e": ["1x1", "2x2", "4x2", "2x2", "4x4", "8x4"],
          "tpu-v4": ["2x2x1", "2x2x2", "2x2x4", "4x2x4"], "tpu-v5p": ["2x2x1", "2x2x2", "4x2x2", "2x4x4"],
          "tpu-v7": ["2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4"]}


def lengths(draw: Draw, most: int = 36) -> str:
    while True:
        axes = [draw.choice([1, 2, 2, 3, 4, 4, 5, 6]) for _ in range(draw.choice([1, 2, 2, 2, 3, 3, 4]))]
        if 2 <= math.prod(axes) <= most:
            return "x".join(map(str, axes))


def graph(draw: Draw) -> dict:
    """A connected graph: a random tree, mostly with a ring, and some further links."""
    count = draw.choice([1, 2, 3, 4, 4, 5, 6, 8, 8, 9])
    names = list(range(count)) if draw.chance(0.4) else [f"c{i}" for i in range(count)]
    pairs = {(draw.randrange(i), i) for i in range(1, count)}
    if draw.chance(0.7) and count > 2:
        pairs |= {(i, i + 1) for i in range(count - 1)} | {(0, count - 1)}
    others = [pair for pair in itertools.combinations(range(count), 2) if pair not in pairs]
    pairs |= set(draw.sample(others, min(len(others), draw.randint(0, 4))))
    links = []
    for a, b in sorted(pairs):
        link = {"between": [str(names[a]) if draw.chance(0.5) else names[a], names[b]]}
        if draw.chance(0.2):
            link["bandwidth"] = quantity(draw.log(1, 100), "GB/s")
        if draw.chance(0.2):
            link["latency"] = time(draw, 1e-8, 1e-5)
        links.append(link)
    made = {"name": "drawn", "chips": count if isinstance(names[0], int) else names, "links": links}
    return made | ({"description": "drawn"} if draw.chance(0.3) else {})


def cables(kind: str, value: object, files: dict) -> list[tuple]:
    """Pairs of chips with a certain link, by name; empty if unknown."""
    if kind == "fully-connected":
        return [(str(a), str(b)) for a, b in itertools.combinations(range(value), 2)]
    if kind == "switch":
        return [(str(chip), "switch") for chip in range(value)]
    if kind == "ring":
        return [(f"({i})", f"({i + 1})") for i in range(value - 1)]
    if kind == "file":
        return [tuple(map(str, link["between"])) for link in files[value]["links"]]
    axes = [int(length) for length in value.split("x")]
    found = []
    for chip in itertools.product(*map(range, axes)):
        for axis, length in enumerate(axes):
            if chip[axis] + 1 < length:
                other = (*chip[:axis], chip[axis] + 1, *chip[axis + 1:])
                found.append(tuple("(" + ",".join(map(str, one)) + ")" for one in (chip, other)))
    return found


def kind_of(topology: dict) -> str:
    return next(kind for kind in ("slice", "mesh", "torus", "ring", "fully-connected", "switch", "file") if kind in topology)


def joined(topology: dict, files: dict) -> list[tuple]:
    kind = kind_of(topology)
    pairs = cables(kind, topology[kind], files)
    if "network" in topology:
        count = topology["network"]["slices"]
        pairs = [(f"{i}:{a}", f"{i}:{b}") for i in range(count) for a, b in pairs]
    return pairs


def chips_of(topology: dict, files: dict) -> int:
    kind = kind_of(topology)
    value = topology[kind]
    if kind == "file":
        chips = files[value]["chips"]
        count = chips if isinstance(chips, int) else len(chips)
    else:
        count = value if isinstance(value, int) else math.prod(map(int, value.split("x")))
    return count * topology.get("network", {}).get("slices", 1)


def bandwidth(draw: Draw):
    """Bandwidth of a network, possibly with its uncertainty and origin."""
    rate = draw.log(0.5, 50)
    if draw.chance(0.7):
        return quantity(rate, "GB/s")
    made = {"value": quantity(rate, "GB/s")}
    if draw.chance(0.5):
        made["standard_error"] = quantity(rate * 0.1, "GB/s")
    else:
        made["range"] = [quantity(rate * 0.5, "GB/s"), quantity(rate * 2.0, "GB/s")]
    if draw.chance(0.7):
        made |= {"class": draw.choice(["assumed", "derived"]), "source": "made up"}
    return made


def topology(draw: Draw, chip_name: str | None, files: dict) -> dict:
    kind = draw.choice(["slice", "slice", "mesh", "torus", "torus", "ring", "fully-connected", "fully-connected",
                        "switch", "switch", "file"])
    if kind == "slice" and chip_name not in SLICES:
        kind = "torus"
    value = {"slice": lambda: draw.choice(SLICES[chip_name]), "mesh": lambda: lengths(draw),
             "torus": lambda: lengths(draw), "ring": lambda: draw.choice([2, 2, 3, 4, 5, 6, 8, 12, 16]),
             "fully-connected": lambda: draw.choice([2, 2, 3, 4, 4, 5, 6, 8, 8]),
             "switch": lambda: draw.choice([2, 2, 3, 4, 6, 8]), "file": lambda: "graph.json"}[kind]()
    if kind == "file":
        files["graph.json"] = graph(draw)
    made = {kind: value}
    if kind == "torus" and draw.chance(0.4):
        made["wraparound"] = [draw.chance(0.5) for _ in value.split("x")]
    if draw.chance(0.2):
        network = {"slices": draw.choice([2, 2, 3, 4]), "bandwidth": bandwidth(draw), "latency": time(draw, 1e-7, 1e-4)}
        if draw.chance(0.4):
            chips = chips_of(made, files)
            network["chips_per_port"] = draw.choice([port for port in range(1, chips + 1) if chips % port == 0])
        if chips_of(made, files) * network["slices"] <= 48:
            made["network"] = network
    elif draw.chance(0.1):
        pairs = joined(made, files)
        if pairs and kind != "switch":
            made["avoid"] = [list(pair) for pair in draw.sample(pairs, 1)]
    return made
