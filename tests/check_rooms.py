#!/usr/bin/env python3
"""Checks that no room includes another that it must not know (docs/architecture.md).

The linker enforces most of it; this also covers what lives in headers alone.
Usage: check_rooms.py REPOSITORY
"""
import pathlib
import re
import sys

# What each room may include, besides itself and the standard library.
ROOMS = {
    "topologies": {"boost/", "fmt/"},
    "models/units": {"fmt/"},
    "models/os": set(),
    "models/formats": set(),
    "models/numerics/random": set(),
    "models/numerics/elements": {"models/formats", "models/numerics/random"},
    "models/numerics/kernels": {
        "models/formats", "models/numerics/random", "models/numerics/elements", "hwy/"},
    "models/numerics/codec": {
        "models/formats", "models/numerics/random", "models/numerics/elements",
        "models/numerics/kernels"},
    "models/numerics/inputs": {"models/numerics/random"},
    "models/numerics/errors": set(),
    "models/hardware": {"models/units", "fmt/"},
    "models/collectives": {"models/formats", "fmt/"},
    "models/tensors": {"models/numerics/elements", "models/os", "nlohmann/", "fmt/"},
    "models/workloads": {"models/formats", "models/hardware", "models/units", "fmt/"},
    "models/values": {
        "models/formats", "models/collectives", "models/numerics", "models/tensors", "fmt/"},
    "sim": {"models/collectives", "models/os", "simgrid/", "fmt/"},
    "experiments": {"topologies", "models", "sim", "nlohmann/", "valijson/", "xxhash.h",
                    "fmt/"},
    "tools/cli": {"experiments", "models/tensors", "CLI/", "fmt/"},
}
SYSTEM = re.compile(r"^(sys/)?[a-z_0-9]+(\.h)?$")
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)


def violations(root: pathlib.Path):
    for room, allowed in ROOMS.items():
        for path in sorted((root / room).rglob("*.[ch]pp")):
            for name in INCLUDE.findall(path.read_text()):
                if SYSTEM.match(name) or name.startswith(room + "/"):
                    continue
                if not any(name == a or name.startswith(a.rstrip("/") + "/") for a in allowed):
                    yield f"{path.relative_to(root)}: {room} must not include {name}"


def main() -> int:
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "no room includes what it must not know")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
