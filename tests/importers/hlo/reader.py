"""Reads HLO text on its own, with regular expressions: FLOPs of products, and collectives with their bytes.

An oracle for `equarx-sim import hlo` that shares no code with it. Loops are run, and convolutions counted element by
element, so programs must be small or have known_trip_count.
"""
import collections
import itertools
import math
import re

BITS = {"pred": 8, "s4": 4, "u4": 4, "f4e2m1fn": 4, **{f"{sign}{bits}": bits for sign in "su" for bits in (8, 16, 32, 64)},
        "f8e4m3fn": 8, "f8e5m2": 8, "bf16": 16, "f16": 16, "f32": 32, "f64": 64, "c64": 64, "c128": 128}
KINDS = ("ragged-all-to-all", "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "collective-permute",
         "collective-broadcast")
ARRAY = re.compile(r"([a-z][a-z0-9]*)\[([\d,]*)\]")
CALLS = re.compile(r"(?:calls|to_apply|body|condition|branch_computations|called_computations|true_computation|"
                   r"false_computation)=(\{[^}]*\}|%?[\w.\-]+)")
COMPARE = {"LT": "__lt__", "LE": "__le__", "GT": "__gt__", "GE": "__ge__", "EQ": "__eq__", "NE": "__ne__"}

Instruction = collections.namedtuple("Instruction", "name shape opcode operands inner attributes is_root")
Cost = collections.namedtuple("Cost", "flops collectives")  # collectives: {kind: {bytes of one: times}}


def closing(text, begin):
    """Position after the bracket that closes the one at `begin`."""
    depth = 0
    for at in range(begin, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at + 1
    raise ValueError("unclosed bracket")


def parts(text):
    """Splits at commas outside brackets."""
    found, depth, begin = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            found.append(text[begin:at])
            begin = at + 1
    return [part.strip() for part in [*found, text[begin:]] if part.strip()]


def arrays(shape):
    return [(kind, [int(length) for length in lengths.split(",") if length]) for kind, lengths in ARRAY.findall(shape)]


def size(shape):
    """Bytes of a shape."""
    return sum(math.prod(lengths) * BITS.get(kind, 0) / 8 for kind, lengths in arrays(shape))


def element(shape, number):
    return parts(shape.strip()[1:-1])[number]


def numbers(text):
    return [int(number) for number in re.findall(r"\d+", text or "")]


class Program:
    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        header = text.split("\n", 1)[0]
        counts = [re.search(key + r"=(\d+)", header) for key in ("replica_count", "num_partitions")]
        self.computations, self.entry = {}, None
        for entry, name, body in re.findall(r"^(ENTRY )?%?([\w.\-]+)(?: \([^\n]*)? \{\n(.*?)^\}", text, re.M | re.S):
            lines = (self.instruction(line) for line in body.split("\n"))
            self.computations[name] = [line for line in lines if line]
            self.entry = name if entry else self.entry
        named = [number for group in re.findall(r"(?:replica_groups|source_target_pairs)=(\{\{.*?\}\})", text)
                 for number in numbers(group)]
        named += [math.prod(numbers(group)) - 1 for group in re.findall(r"replica_groups=(\[[\d,]+\])<=", text)]
        self.chips = math.prod(int(count[1]) for count in counts if count) if any(counts) else max(named, default=0) + 1
        self.costs = {}

    @staticmethod
    def instruction(line):
        match = re.match(r"\s*(ROOT )?%?([\w.\-]+) = ", line)
        if not match:
            return None
        rest = line[match.end():]
        if rest.startswith("("):
            end = closing(rest, 0)
        else:
            end = rest.index(" ")
        shape, rest = rest[:end], rest[end:].lstrip()
        opcode, at = re.match(r"([\w\-]+)", rest)[1], rest.index("(")
        end = closing(rest, at)
        inner = rest[at + 1:end - 1]
        operands = [] if opcode in ("parameter", "constant") else [part.split()[-1].lstrip("%") for part in parts(inner)]
        return Instruction(match[2], shape, opcode, operands, inner, rest[end:].replace('\\"', '"'), bool(match[1]))

    def named(self, computation):
        return {one.name: one for one in self.computations[computation]}

    def shape_of(self, computation, operand):
        name, *indices = operand.split("#")
        shape = self.named(computation)[name].shape
        for index in indices:
            shape = element(shape, int(index))
        return shape

    # --- Collectives

    def group_size(self, one):
        text = re.search(r"replica_groups=(.*)", one.attributes)
        text = text[1] if text else ""
        if text.startswith("["):
            return numbers(text[:text.index("]")])[1]
        if text.startswith("mesh"):
            axes = dict(re.findall(r"'(\w+)'=(\d+)", text))
            used = re.search(r"\{([^}]*)\}", text)[1]
            return math.prod(int(axes[axis]) for axis in re.findall(r"'(\w+)'", used))
        if text.startswith("{{"):
            return len(numbers(text[:text.index("}")]))
        return self.chips

    def collective(self, computation, one, base):
        operands = one.operands[:1] if base == "ragged-all-to-all" else one.operands
        moved = sum(size(self.shape_of(computation, operand)) for operand in operands)
        return moved * (self.group_size(one) if base == "all-gather" else 1)

    # --- Products

    def product(self, computation, one):
        if one.opcode == "convolution":
            return self.convolution(computation, one)
        if one.opcode == "dot":
            axes = numbers(re.search(r"lhs_contracting_dims=\{([\d,]*)\}", one.attributes)[1])
        elif "__cublas" in one.attributes:
            axes = numbers(re.search(r'"lhs_contracting_dimensions":\[([^\]]*)\]', one.attributes)[1])
        else:
            estimated = re.search(r'"cost_estimate":\{[^}]*"flops":"?(\d+)', one.attributes)
            return int(estimated[1]) if one.opcode == "custom-call" and estimated else 0
        left = arrays(self.shape_of(computation, one.operands[0]))[0]
        result = arrays(one.shape)[0][1]
        return 2 * math.prod(result) * math.prod(left[1][axis] for axis in axes) * (4 if left[0].startswith("c") else 1)

    def convolution(self, computation, one):
        base, kernel = (arrays(self.shape_of(computation, operand))[0][1] for operand in one.operands)
        result = arrays(one.shape)[0][1]
        of_base, of_kernel, of_result = re.search(r"dim_labels=(\w+)_(\w+)->(\w+)", one.attributes).groups()
        window = re.search(r"window=\{([^}]*)\}", one.attributes)
        window = dict(part.split("=") for part in window[1].split()) if window else {}
        flops = 2 * result[of_result.index("b")] * result[of_result.index("f")] * kernel[of_kernel.index("i")]
        for axis in sorted(set(of_base) - set("bf")):
            def at(key, default):
                return int(window[key].split("x")[int(axis)].split("_")[0]) if key in window else default
            length, stride, pad = base[of_base.index(axis)], at("stride", 1), at("pad", 0)
            spread, gap = at("lhs_dilate", 1), at("rhs_dilate", 1)
            positions = itertools.product(range(result[of_result.index(axis)]), range(kernel[of_kernel.index(axis)]))
            met = (out * stride + k * gap - pad for out, k in positions)
            flops *= sum(1 for place in met if place % spread == 0 and 0 <= place // spread < length)
        return flops

    # --- Control flow

    def scalar(self, computation, name, state):
        """Value of an integer scalar; `state`: elements of the parameter, by index."""
        one = self.named(computation)[name]
        if one.opcode == "constant":
            return int(one.inner)
        if one.opcode == "get-tuple-element":
            return state[int(re.search(r"index=(\d+)", one.attributes)[1])]
        values = [self.scalar(computation, operand, state) for operand in one.operands]
        if one.opcode == "compare":
            return getattr(values[0], COMPARE[re.search(r"direction=(\w+)", one.attributes)[1]])(values[1])
        return {"add": sum(values), "subtract": values[0] - sum(values[1:]), "copy": values[0]}[one.opcode]

    def root(self, computation):
        lines = self.computations[computation]
        return next((one for one in lines if one.is_root), lines[-1])

    def iterations(self, computation, one, body, condition):
        known = re.search(r'"known_trip_count":\{"n":"(\d+)"', one.attributes)
        if known:
            return int(known[1])
        first = self.named(computation)[one.operands[0]].operands[0]
        state, times = {0: self.scalar(computation, first, {})}, 0
        while self.scalar(condition, self.root(condition).name, state):
            state = {0: self.scalar(body, self.root(body).operands[0], state)}
            times += 1
        return times

    def cost(self, computation=None):
        computation = computation or self.entry
        if computation not in self.costs:
            flops, found = 0, collections.defaultdict(collections.Counter)
            for one in self.computations[computation]:
                for other, times in self.called(computation, one):
                    flops += other.flops * times
                    for kind, sizes in other.collectives.items():
                        for moved, count in sizes.items():
                            found[kind][moved] += count * times
            self.costs[computation] = Cost(flops, found)
        return self.costs[computation]

    def called(self, computation, one):
        """(cost, times) of an instruction and of the computations that it calls."""
        base = re.sub(r"-(start|done|update)$", "", one.opcode)
        if one.opcode.endswith(("-done", "-update")):
            return []
        if base in KINDS:
            return [(Cost(0, {base: {self.collective(computation, one, base): 1}}), 1)]
        callees = {key: re.findall(r"[\w.\-]+", value) for key, value in
                   ((match[0].split("=")[0], match[1]) for match in CALLS.finditer(one.attributes))}
        costs = [self.cost(name) for names in callees.values() for name in names]
        own = [(Cost(self.product(computation, one), {}), 1)]
        if base == "while":
            body, condition = callees["body"][0], callees["condition"][0]
            times = self.iterations(computation, one, body, condition)
            # Work of a condition is left out, but not its collectives.
            return [(self.cost(body), times), (Cost(0, self.cost(condition).collectives), times + 1)]
        if base == "conditional":
            moved = [sum(size * count for sizes in cost.collectives.values() for size, count in sizes.items())
                     for cost in costs]
            return [(max(zip(moved, costs), key=lambda pair: (pair[0], pair[1].flops))[1], 1)]
        if base == "custom-call":
            return [(cost, 1) for cost in costs] if any(cost.collectives for cost in costs) else own
        return [(cost, 1) for cost in costs] if base in ("fusion", "call", "async") else own
