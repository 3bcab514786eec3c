"""Schemes of training: the format of each operand of each matrix product of both passes, and how gradients
pass the casts. A JSON file each, in schemes/ or given by the user.

    {"forward": {"activations": OPERAND, "weights": OPERAND},
     "input_gradient": {"gradients": OPERAND, "weights": OPERAND or "forward"},
     "weight_gradient": {"gradients": OPERAND or "input_gradient", "activations": OPERAND or "forward"},
     "attention": false, "kept": 0}

OPERAND is "fp32", "bf16", or an object of the keys of Operand; "forward" takes the values of the forward pass.
"""
import dataclasses
import json
import pathlib

import codes
from store import QualityError

FOLDER = pathlib.Path(__file__).resolve().parent / "schemes"
PASSES = {"forward": ("activations", "weights"), "input_gradient": ("gradients", "weights"),
          "weight_gradient": ("gradients", "activations")}
TAKEN = {("input_gradient", "weights"): "forward", ("weight_gradient", "activations"): "forward",
         ("weight_gradient", "gradients"): "input_gradient"}
KINDS = ("tensor", "row", "block", "square")
SCALES = ("none", "exact", "power-of-two", "mx", "nv", "delayed", "learnt")
TIES = ("even", "up", "zero", "stochastic")
DERIVATIVES = ("straight-through", "clamp", "dge")


@dataclasses.dataclass(frozen=True)
class Operand:
    """Format of an operand [..., rows, columns] of a product that sums over columns.

    code: "fp32", "bf16", "e4m3", "int8" ... (codes.code). groups, length: elements that share a scale. scale:
    "none"; "exact", "power-of-two", "mx" or "nv" of each group; "delayed": a power of two for the tensor from the
    amax of the `history` steps before, 2^margin larger; "learnt": the end of the range is a parameter, which
    begins at a moving mean of abs-max over `history` steps (PAMS). saturates: False makes values that do not fit a
    delayed scale NaN or infinite. ties: of rounding. clamp: quantile of each row at which outliers are cut off, 0
    for none; compensated: the excess is multiplied apart, as a sparse operand in bf16. hadamard: length of a
    rotation before rounding, which both operands of a product need. derivative: of the cast: "straight-through",
    "clamp" (0 for values beyond the range) or "dge" with k and at_most."""

    code: str = "bf16"
    groups: str = "tensor"
    length: int = 0
    scale: str = "none"
    history: int = 16
    margin: int = 0
    saturates: bool = True
    ties: str = "even"
    clamp: float = 0.0
    compensated: bool = False
    hadamard: int = 0
    derivative: str = "straight-through"
    k: float = 5.0
    at_most: float = 3.0

    @property
    def is_exact(self) -> bool:
        return self.code == "fp32"


@dataclasses.dataclass(frozen=True)
class Scheme:
    """Operands by pass and name. attention: the products of scores and values are cast, too. kept: so many last
    layers stay in bf16."""

    operands: dict
    attention: bool = False
    kept: int = 0

    def operand(self, step: str, name: str) -> Operand | str:
        return self.operands[step][name]


def _check(where: str, operand: Operand) -> None:
    """@raises QualityError for a key out of range"""
    def fail(key: str, remedy: str):
        raise QualityError(f"{where}/{key}: {getattr(operand, key)!r} is not possible; {remedy}")

    for key, values in (("groups", KINDS), ("scale", SCALES), ("ties", TIES), ("derivative", DERIVATIVES)):
        if getattr(operand, key) not in values:
            fail(key, "use one of " + ", ".join(values))
    if operand.code != "fp32":
        try:
            codes.code(operand.code)
        except ValueError as error:
            raise QualityError(f"{where}/code: {error}") from error
    if operand.groups in ("block", "square") and operand.length < 1:
        fail("length", "give the length of a group")
    if operand.scale in ("delayed", "learnt", "none") and operand.groups != "tensor":
        fail("groups", f'a scale that is "{operand.scale}" is of the tensor')
    if operand.scale == "learnt" and not operand.code.startswith("int"):
        fail("scale", "a learnt range is of integers")
    if operand.scale == "none" and operand.code.startswith("int"):
        fail("scale", "integers need one")
    if operand.history < 1:
        fail("history", "use 1 or more steps")
    if operand.clamp and not 0.5 < operand.clamp < 1:
        fail("clamp", "use a quantile above 0.5 and below 1")
    if operand.compensated and not (operand.clamp and where.endswith("/forward/activations")):
        fail("compensated", "it needs a clamp, and is of activations in the forward pass")
    if operand.hadamard & (operand.hadamard - 1) or operand.hadamard < 0:
        fail("hadamard", "use a power of two")
    if operand.hadamard and operand.derivative != "straight-through":
        fail("derivative", "a rotated operand has the derivative straight-through")
    if operand.derivative == "dge" and not (operand.k > 1 and operand.at_most > 0):
        fail("k", "dge needs a k above 1 and an at_most above 0")


def _operand(where: str, given, taken: str | None) -> Operand | str:
    if isinstance(given, str):
        if given in ("fp32", "bf16"):
            return Operand(given)
        if given == taken:
            return given
        allowed = ["fp32", "bf16"] + ([taken] if taken else [])
        raise QualityError(f"{where}: {given!r} is no operand; use an object or one of {', '.join(allowed)}")
    if not isinstance(given, dict):
        raise QualityError(f"{where}: an object or a name is needed, not {json.dumps(given)}")
    known = {field.name: field for field in dataclasses.fields(Operand)}
    for key, value in given.items():
        if key not in known:
            raise QualityError(f"{where}/{key}: there is no such key; use {', '.join(known)}")
        wanted = type(known[key].default)
        if not (isinstance(value, wanted) or wanted is float and isinstance(value, int)) or (
                isinstance(value, bool) != (wanted is bool)):
            raise QualityError(f"{where}/{key}: {json.dumps(value)} is no {wanted.__name__}")
    operand = Operand(**given)
    _check(where, operand)
    return operand


def _check_rotations(where: str, operands: dict) -> None:
    """Rotations cancel only if both operands of a product have the same, along the columns it sums over."""
    for step, of_step in operands.items():
        lengths = {operand.hadamard if isinstance(operand, Operand) else 0 for operand in of_step.values()}
        if len(lengths) > 1:
            raise QualityError(f"{where}/{step}: both operands need the same hadamard, not "
                               + " and ".join(map(str, sorted(lengths))))
        for name, operand in of_step.items():
            if isinstance(operand, str) and any(other.hadamard for other in operands[operand].values()
                                                if isinstance(other, Operand)):
                raise QualityError(f"{where}/{step}/{name}: {operand!r} is rotated along other columns; give an "
                                   "operand")


def from_json(where: str, given) -> Scheme:
    """The scheme of a parsed JSON file. @raises QualityError with the place and the remedy"""
    if not isinstance(given, dict):
        raise QualityError(f"{where}: an object is needed")
    allowed = {*PASSES, "attention", "kept", "source"}
    for key in given:
        if key not in allowed:
            raise QualityError(f"{where}/{key}: there is no such key; use {', '.join(sorted(allowed))}")
    operands = {}
    for step, names in PASSES.items():
        part = given.get(step, {})
        if not isinstance(part, dict) or set(part) - set(names):
            raise QualityError(f"{where}/{step}: use an object with {' and '.join(names)}")
        operands[step] = {name: _operand(f"{where}/{step}/{name}", part.get(name, TAKEN.get((step, name), "bf16")),
                                         TAKEN.get((step, name))) for name in names}
    _check_rotations(where, operands)
    kept, attention = given.get("kept", 0), given.get("attention", False)
    if not isinstance(kept, int) or isinstance(kept, bool) or kept < 0:
        raise QualityError(f"{where}/kept: use a number of layers, 0 or more")
    if not isinstance(attention, bool):
        raise QualityError(f"{where}/attention: use true or false")
    return Scheme(operands, attention, kept)


def names() -> list[str]:
    """Names of the schemes in schemes/."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def given_json(name: str) -> dict:
    """The JSON of a scheme by name, or of a file. @raises QualityError"""
    path = FOLDER / f"{name}.json" if name in names() else pathlib.Path(name)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise QualityError(f"scheme {name!r}: cannot read {path}: {error.strerror}; use a file or one of "
                           f"{', '.join(names())}") from error
    except ValueError as error:
        raise QualityError(f"scheme {name!r}: {path} is no JSON: {error}") from error


def arithmetic(given: dict) -> dict:
    """The JSON of a scheme without words for readers."""
    return {key: value for key, value in given.items() if key != "source"}


def load(name: str) -> Scheme:
    return from_json(name, given_json(name))


def fp8(scale: str = "delayed", attention: bool = False, **changes) -> dict:
    """JSON of FP8 products: E4M3 in the forward pass, E5M2 gradients. `scale`: "delayed", "exact" for the
    tensor itself, or "block" for 128 neighbours. `changes`: of all operands."""
    def operand(code: str) -> dict:
        groups = {"groups": "block", "length": 128, "scale": "exact"} if scale == "block" else {"scale": scale}
        return {"code": code} | groups | changes

    return {"forward": {"activations": operand("e4m3"), "weights": operand("e4m3")},
            "input_gradient": {"gradients": operand("e5m2")}, "attention": attention}
