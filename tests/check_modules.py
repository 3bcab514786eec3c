#!/usr/bin/env python3
"""Checks that modules include only what tools/modules.json allows, and that docs/architecture.md shows that list.

The linker enforces most of it; this also covers header-only parts. A name with a slash at its end is a library.
Usage: check_modules.py REPOSITORY [--write]     --write updates the table in docs/architecture.md
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
ENTRIES = json.loads((ROOT / "tools/modules.json").read_text(encoding="utf-8"))["modules"]
# Allowed includes of each module, besides itself, modules inside it, and the standard library.
MODULES = {name: {*entry["includes"], *entry["libraries"]} for name, entry in ENTRIES.items()}
TABLE = re.compile(r"(?<=<!-- modules -->\n).*?(?=<!-- /modules -->)", re.DOTALL)

# Headers that may include libraries with a high compile time: adapters of these libraries.
HEAVY = re.compile(r"^(nlohmann/json\.hpp|pugixml\.hpp|boost/|simgrid/|valijson/|CLI/)")
ADAPTERS = {
    "base/input/json.hpp",
    "base/input/codecs.hpp",  # for the source files that declare keys
    "base/input/fields.hpp",
    "sim/engines/simgrid/chip_actor.hpp",  # SimGrid, only for the source files of sim/engines/simgrid
    "sim/engines/simgrid/platform.hpp",
    "tools/cli/app.hpp",  # the description of the command line, for its users
    "tools/cli/pages/bash_completion.hpp",
    "tools/cli/pages/completions.hpp",
    "tools/cli/pages/fish_completion.hpp",
    "tools/cli/pages/zsh_completion.hpp",
    "tools/cli/pages/described_options.hpp",
    "tools/cli/pages/man_page.hpp",
}
SYSTEM = re.compile(r"^(sys/)?[a-z_0-9]+(\.h)?$")
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)


def is_within(name: str, module: str) -> bool:
    return name == module or name.startswith(module.rstrip("/") + "/")


def sources(folder: pathlib.Path):
    return sorted(folder.rglob("*.[ch]pp"))


def includes(path: pathlib.Path):
    return INCLUDE.findall(path.read_text())


def broken_arrows(root: pathlib.Path, modules=None):
    modules = MODULES if modules is None else modules
    for module, allowed in modules.items():
        for path in sources(root / module):
            for name in includes(path):
                if SYSTEM.match(name) or is_within(name, module):
                    continue
                if not any(is_within(name, other) for other in allowed):
                    yield (f"{path.relative_to(root)}: {module} must not include {name}; move what it "
                           f"needs to a module below both, or hand it in from above")


def heavy_headers(root: pathlib.Path):
    for folder in ("base", "topologies", "models", "sim", "experiments", "importers", "tools"):
        for path in sources(root / folder):
            relative = str(path.relative_to(root))
            if path.suffix != ".hpp" or relative in ADAPTERS:
                continue
            for name in includes(path):
                # So that no header reaches a library through another header, either.
                if HEAVY.match(name) or name in ADAPTERS:
                    yield (f"{relative}: includes {name}, which every includer would "
                           f"compile; declare what is needed and include it in the source file")


def circles(modules):
    """Modules that reach themselves along the allowed edges."""
    def reached(module):
        seen, waiting = set(), [module]
        while waiting:
            for other in modules[waiting.pop()]:
                if other in modules and other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return seen
    for module in modules:
        if module in reached(module):
            yield f"{module}: reaches itself through its includes; remove one of them from tools/modules.json"


def modules_without_rule(root: pathlib.Path, modules=None):
    modules = MODULES if modules is None else modules
    for folder in ("base", "topologies", "models", "sim", "experiments", "importers", "tools/cli", "tools/python"):
        for path in sources(root / folder):
            relative = str(path.relative_to(root))
            if not any(is_within(relative, module) for module in modules):
                yield f"{relative}: is in no module; add its folder to tools/modules.json"


def reachable(module: str) -> set[str]:
    """Modules that `module` includes, directly or through others."""
    direct = ENTRIES[module]["includes"]
    return set(direct).union(*(reachable(other) for other in direct))


def table() -> str:
    """The modules as a Markdown table, for docs/architecture.md; includes implied by others are left out."""
    rows = ["", "| module | does | builds on |", "|---|---|---|"]
    for name, entry in ENTRIES.items():
        implied = set().union(*(reachable(other) for other in entry["includes"]))
        rows.append(f"| `{name}` | {entry['does']} | "
                    f"{', '.join(f'`{other}`' for other in entry['includes'] if other not in implied)} |")
    return "\n".join(rows) + "\n\n"


def stale_table(root: pathlib.Path):
    page = root / "docs/architecture.md"
    if page.is_file() and TABLE.findall(page.read_text(encoding="utf-8")) != [table()]:
        yield "docs/architecture.md: its table of modules is stale; run tests/check_modules.py . --write"


def violations(root: pathlib.Path):
    yield from circles(MODULES)
    yield from stale_table(root)
    yield from broken_arrows(root)
    yield from heavy_headers(root)
    yield from modules_without_rule(root)


def main() -> int:
    if "--write" in sys.argv:
        page = pathlib.Path(sys.argv[1]) / "docs/architecture.md"
        page.write_text(TABLE.sub(lambda _: table(), page.read_text(encoding="utf-8")), encoding="utf-8")
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "every module includes only allowed modules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
