"""Names for the axes of a sweep, which are JSON pointers."""
import re

LABEL = "label"
KNOWN = {LABEL: "collective", "/tensor/bytes": "tensor on each chip", "/tensor/shape": "shape of the tensor",
         "/tensor/dtype": "element type", "/tensor/values": "values", "/topology": "topology", "/hardware": "chip",
         "/workload/tokens": "tokens of the prompt", "/workload/context": "context", "/collective": "collective"}
COLLECTIVE = re.compile(r"/collectives/([^/]+)/(.+)")
LINK = re.compile(r"/faults/links/(\d+)/(.+)")
CHIP = re.compile(r"/hardware/(.+)")
# First steps that names omit.
GENERAL = {"tensor", "topology", "workload"}


def axis_text(axis: str, labels: list[str] = ()) -> str:
    """'/collectives/1/minishards' is 'minishards of int8', if labels has 'int8' as the second collective."""
    if axis in KNOWN:
        return KNOWN[axis]
    if found := COLLECTIVE.fullmatch(axis):
        return f"{_words(found[2])} of {_collective(found[1], labels)}"
    if found := LINK.fullmatch(axis):
        return f"{_words(found[2])} of faulty link {found[1]}"
    if found := CHIP.fullmatch(axis):
        return f"{_words(found[1].rsplit('/', 1)[-1])} of the chip"
    steps = axis.strip("/").split("/")
    return _words("/".join(steps[1:] if len(steps) > 1 and steps[0] in GENERAL else steps))


def _collective(step: str, labels: list[str]) -> str:
    """A collective by its label or by its index."""
    if not step.isdigit():
        return step
    place = int(step)
    return labels[place] if place < len(labels) else f"collective {place}"


def _words(keys: str) -> str:
    """The innermost key first: 'distribution of values'."""
    return " of ".join(reversed(keys.replace("_", " ").split("/")))
