#!/usr/bin/env python3
"""Checks that no module includes another that it must not know (docs/architecture.md).

The linker enforces most of it; this also covers what lives in headers alone.
Usage: check_modules.py REPOSITORY
"""
import pathlib
import re
import sys

# What each module may include, besides itself, modules inside it, and the standard library.
# A name with a slash at its end is a library.
MODULES = {
    "topologies": {"boost/", "fmt/"},
    "models/units": {"fmt/"},
    "models/os": {"fmt/"},
    "models/formats": set(),
    "models/numerics/random": set(),
    "models/numerics/elements": {"models/formats", "models/numerics/random"},
    "models/numerics/kernels": {
        "models/formats", "models/numerics/random", "models/numerics/elements", "hwy/"},
    "models/numerics/codec": {
        "models/formats", "models/numerics/random", "models/numerics/elements",
        "models/numerics/kernels"},
    "models/numerics/inputs": {"models/numerics/kernels"},
    "models/numerics/errors": set(),
    "models/hardware": {"models/units", "fmt/"},
    "models/collectives": {"models/formats", "fmt/"},
    "models/tensors": {"models/numerics/elements", "models/os", "nlohmann/", "fmt/"},
    "models/workloads": {"models/formats", "models/hardware", "models/units", "fmt/"},
    "models/hlo": {"models/hardware", "fmt/"},
    "models/chakra": {"fmt/"},
    "models/schedules": {
        "models/collectives", "models/formats", "models/numerics/random", "pugixml.hpp", "fmt/"},
    "models/steps": {
        "models/chakra", "models/collectives", "models/formats", "models/hardware", "models/hlo", "models/workloads",
        "fmt/"},
    "models/values": {
        "models/formats", "models/collectives", "models/numerics", "models/os", "models/tensors", "fmt/"},
    "sim": {"models/collectives", "models/os", "simgrid/", "fmt/"},
    "experiments/input": {"models/os", "models/units", "nlohmann/", "valijson/", "fmt/"},
    "experiments/process": {"models/os", "fmt/"},
    "experiments/output": {"experiments/input", "models/os", "models/units", "fmt/"},
    "experiments/config": {
        "experiments/input", "models/collectives", "models/formats", "models/hardware",
        "models/numerics", "models/os", "models/steps", "models/tensors", "models/units", "models/values",
        "models/workloads", "topologies", "fmt/"},
    "experiments/plan": {
        "experiments/config", "experiments/input", "experiments/process", "models/collectives",
        "models/hardware", "models/units", "models/values", "models/workloads", "sim", "topologies",
        "fmt/"},
    "experiments/run": {
        "experiments/plan", "experiments/config", "experiments/process", "experiments/input",
        "models/collectives", "models/hardware", "models/tensors", "models/units", "models/values",
        "models/workloads", "sim", "fmt/"},
    "experiments/trace": {
        "experiments/run", "experiments/plan", "experiments/config", "experiments/output",
        "experiments/input", "models/units", "sim", "fmt/"},
    "experiments/result": {
        "experiments/run", "experiments/config", "experiments/output", "experiments/input",
        "models/hardware", "models/units", "fmt/"},
    "experiments/step": {
        "experiments/run", "experiments/plan", "experiments/config", "experiments/trace",
        "experiments/output", "experiments/input", "models/steps", "models/units",
        "models/workloads", "sim", "topologies", "fmt/"},
    "experiments/imports": {
        "experiments/step", "experiments/plan", "experiments/config", "experiments/output",
        "experiments/input", "models/chakra", "models/formats", "models/hlo", "models/numerics", "models/os",
        "models/schedules", "models/steps", "models/units", "sim", "fmt/"},
    "experiments/sweep": {
        "experiments/result", "experiments/step", "experiments/run", "experiments/plan", "experiments/config",
        "experiments/output", "experiments/process", "experiments/input", "models/os",
        "models/units", "fmt/"},
    "experiments/study": {
        "experiments/sweep", "experiments/step", "experiments/result", "experiments/config", "experiments/output",
        "experiments/input", "models/units", "fmt/"},
    "experiments/tune": {
        "experiments/process",
        "experiments/run", "experiments/plan", "experiments/config", "experiments/output",
        "experiments/input", "models/collectives", "models/numerics", "models/units",
        "models/values", "sim", "fmt/"},
    "experiments/tune_step": {
        "experiments/tune", "experiments/step", "experiments/run", "experiments/plan",
        "experiments/config", "experiments/output", "experiments/input", "models/collectives",
        "models/numerics", "models/units", "models/values", "fmt/"},
    "experiments/advise": {
        "experiments/tune", "experiments/process", "experiments/run", "experiments/plan",
        "experiments/config", "experiments/output", "experiments/input", "models/hardware",
        "models/numerics", "models/units", "fmt/"},
    "experiments/calibrate": {
        "experiments/result", "experiments/run", "experiments/plan", "experiments/config",
        "experiments/output", "experiments/process", "experiments/input", "models/hardware",
        "gsl/", "fmt/"},
    "experiments/report": {
        "experiments/config", "experiments/input", "models/units", "topologies", "fmt/"},
    "experiments/compare": {
        "experiments/config", "experiments/output", "experiments/input", "models/units", "fmt/"},
    "experiments/inspect": {
        "experiments/plan", "experiments/config", "experiments/output", "experiments/input",
        "models/hardware", "models/numerics", "models/os", "models/tensors", "models/units", "topologies",
        "fmt/"},
    "experiments/request": {
        "experiments/result", "experiments/run", "experiments/plan", "experiments/config",
        "experiments/input"},
    "tools/cli": {"experiments", "models/os", "models/tensors", "models/units", "CLI/", "fmt/"},
    "tools/python": {
        "experiments", "models/collectives", "models/formats", "models/hardware", "models/numerics",
        "models/tensors", "models/values", "sim", "pybind11/", "fmt/"},
}

# Where libraries that cost much to compile may stand in a header: those that exist to hold them.
HEAVY = re.compile(r"^(nlohmann/json\.hpp|pugixml\.hpp|boost/|simgrid/|valijson/|CLI/)")
ADAPTERS = {
    "experiments/input/json.hpp",
    "sim/simgrid/chip_actor.hpp",  # SimGrid, for the source files of sim/simgrid alone
    "sim/simgrid/platform.hpp",
    "tools/cli/app.hpp",  # the description of the command line, for what is made of it
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
    for folder in ("topologies", "models", "sim", "experiments", "tools"):
        for path in sources(root / folder):
            relative = str(path.relative_to(root))
            if path.suffix != ".hpp" or relative in ADAPTERS:
                continue
            for name in includes(path):
                # So no header reaches a library by way of another header, either.
                if HEAVY.match(name) or name in ADAPTERS:
                    yield (f"{relative}: includes {name}, which everybody who includes it would "
                           f"compile; declare what is needed and include it in the source file")


def circles(modules):
    """Modules that reach themselves by the arrows that are allowed."""
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
            yield f"{module}: reaches itself by the arrows of MODULES; take one of them away"


def modules_without_rule(root: pathlib.Path, modules=None):
    modules = MODULES if modules is None else modules
    for folder in ("topologies", "models", "sim", "experiments", "tools/cli", "tools/python"):
        for path in sources(root / folder):
            relative = str(path.relative_to(root))
            if not any(is_within(relative, module) for module in modules):
                yield f"{relative}: stands in no module; give its folder a line in MODULES"


def violations(root: pathlib.Path):
    yield from circles(MODULES)
    yield from broken_arrows(root)
    yield from heavy_headers(root)
    yield from modules_without_rule(root)


def main() -> int:
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "no module includes what it must not know")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
