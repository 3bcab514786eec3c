"""The keys that a JSON Schema of configs/schema allows."""
import dataclasses
import json

from markdown import ROOT

NOTHING = object()


@dataclasses.dataclass
class Key:
    """Properties of a key in a schema."""

    required: bool = False
    default: object = NOTHING
    has_children: bool = False


def names() -> list[str]:
    """Names of the schemas, without endings."""
    return sorted(path.name.removesuffix(".schema.json") for path in (ROOT / "configs" / "schema").iterdir())


def keys(name: str) -> dict[str, Key]:
    """All keys by path, like `tensor.values.seed` and `faults.links[].between`.

    A shared definition of an object counts at its first use.
    """
    path = ROOT / "configs" / "schema" / f"{name}.schema.json"
    return _Reader(json.loads(path.read_text(encoding="utf-8"))).read()


class _Reader:
    def __init__(self, schema: dict):
        self.schema = schema
        self.found: dict[str, Key] = {}
        self.definitions: set[str] = set()

    def read(self) -> dict[str, Key]:
        self._visit(self.schema, "")
        return self.found

    def _visit(self, node: dict, path: str) -> None:
        reference = node.get("$ref")
        if reference:
            if reference in self.definitions:
                return
            target = self._target(node)
            if "properties" in target:
                self.definitions.add(reference)
            self._visit(target, path)
        self._alternatives(node.get("oneOf", []), path)
        if isinstance(node.get("items"), dict):
            self._visit(node["items"], f"{path}[]")
        if isinstance(node.get("additionalProperties"), dict):
            self._visit(node["additionalProperties"], f"{path}.*")
        for key, child in node.get("properties", {}).items():
            self._property(node, path, key, child)

    def _alternatives(self, branches: list[dict], path: str) -> None:
        """Alternative forms: a key is required if all objects among them require it."""
        for branch in branches:
            self._visit(branch, path)
        resolved = [branch for branch in map(self._target, branches) if "properties" in branch]
        for key in {key for branch in resolved for key in branch.get("properties", {})}:
            here = f"{path}.{key}" if path else key
            if here in self.found:  # False for a shared definition used before
                self.found[here].required = all(key in branch.get("required", []) for branch in resolved)

    def _target(self, node: dict) -> dict:
        if "$ref" not in node:
            return node
        target = self.schema
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        return target

    def _property(self, node: dict, path: str, key: str, child: dict) -> None:
        here = f"{path}.{key}" if path else key
        made = self.found.setdefault(here, Key())
        made.required = made.required or key in node.get("required", [])
        made.default = child.get("default", made.default)
        before = len(self.found)
        self._visit(child, here)
        made.has_children = made.has_children or len(self.found) > before
