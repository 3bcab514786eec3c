"""Shrinks a failing case while it fails in the same way: drops keys, cuts lists, reduces numbers."""
import copy
import re
import time
from collections.abc import Callable, Iterator

SIMPLER_TEXTS = {"hardware": "tpu-v5e"}


def places(node: object, path: tuple = ()) -> Iterator[tuple]:
    """All paths below a node, the outermost first, because dropping them removes most."""
    children = list(node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ())
    for key, _ in children:
        yield (*path, key)
    for key, child in children:
        yield from places(child, (*path, key))


def at(node: object, path: tuple) -> object:
    for key in path:
        node = node[key]
    return node


def without(content: dict, path: tuple) -> dict:
    made = copy.deepcopy(content)
    del at(made, path[:-1])[path[-1]]
    return made


def replaced(content: dict, path: tuple, value: object) -> dict:
    made = copy.deepcopy(content)
    at(made, path[:-1])[path[-1]] = value
    return made


def simpler(value: object, key: object) -> list:
    """Values to try instead, the simplest first."""
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int):
        return [one for one in dict.fromkeys([1, 2, value // 2, value - 1]) if 0 < one < value]
    if isinstance(value, float):
        rounded = [1.0, 0.5, float(f"{value:.1g}")]
        return rounded[:rounded.index(value)] if value in rounded else rounded
    if isinstance(value, dict) and key in SIMPLER_TEXTS:
        return [SIMPLER_TEXTS[key]]
    if isinstance(value, str):
        if key in SIMPLER_TEXTS and value != SIMPLER_TEXTS[key]:
            return [SIMPLER_TEXTS[key]]
        found = re.fullmatch(r"([0-9.e+-]+) (\S+)", value)
        if found and found[1] not in ("1", "2"):
            return [f"1 {found[2]}", f"2 {found[2]}", f"{float(found[1]):.1g} {found[2]}",
                    f"{float(found[1]) / 2:.6g} {found[2]}"]
        if re.fullmatch(r"\d+(x\d+)+", value):
            axes = value.split("x")
            return ["x".join(axes[:i] + axes[i + 1:]) for i in range(len(axes))] + [
                "x".join(axes[:i] + [str(int(axes[i]) - 1)] + axes[i + 1:]) for i in range(len(axes)) if int(axes[i]) > 1]
    return []


def candidates(content: dict) -> Iterator[dict]:
    for path in sorted(places(content), key=len):
        if len(path) > 1:
            yield without(content, path)
    for path in sorted(places(content), key=len):
        for value in simpler(at(content, path), path[-1]):
            yield replaced(content, path, value)


def shrink(content: dict, fails: Callable[[dict], bool], seconds: float) -> dict:
    """The smallest case found within the time; `fails`: True if it fails in the same way."""
    until = time.monotonic() + seconds
    tried: set[str] = set()
    improved = True
    while improved:
        improved = False
        for candidate in candidates(content):
            if time.monotonic() > until:
                return content
            text = repr(candidate)
            if text in tried:
                continue
            tried.add(text)
            if fails(candidate):
                content, improved = candidate, True
                break
    return content
