"""Makes a wheel self-contained: adds the shared libraries that its files need, and names the platform.

    python3 tools/python/bundle_libraries.py WHEEL FOLDER

Writes a copy to FOLDER with the libraries in equarx/_libraries, found by relative paths (patchelf), and with their
licenses (from /usr/share/doc). Only libraries that every manylinux system has are left out (PEP 600). The platform tag
manylinux_2_N has the newest version of glibc that a file requires.
"""
from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# PEP 513 and PEP 600: libraries of every system; the C++ library is as old as the glibc of its distribution.
EVERYWHERE = re.compile(r"^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libutil|libresolv|libgcc_s|libstdc\+\+)\.so")


def output_of(*command: object) -> str:
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def is_elf(path: pathlib.Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def libraries_of(file: pathlib.Path) -> dict[str, pathlib.Path]:
    """Shared libraries by the names that files need them by, with their own libraries."""
    found = {}
    for line in output_of("ldd", file).splitlines():
        name, _, path = line.strip().partition(" => ")
        if not path or EVERYWHERE.match(name):
            continue
        if path.startswith("not found"):
            sys.exit(f"bundle_libraries: {file.name} needs {name}, which is not installed")
        found[name] = pathlib.Path(path.split(" (")[0])
    return found


def newest_glibc(files: list[pathlib.Path]) -> tuple[int, int]:
    """The newest version of glibc whose symbols the files need."""
    versions = {(int(major), int(minor)) for file in files
                for major, minor in re.findall(r"\bGLIBC_(\d+)\.(\d+)", output_of("objdump", "-T", file))}
    return max(versions)


def add_license(library: pathlib.Path, folder: pathlib.Path) -> None:
    """Copies the copyright file of the Debian package of a library."""
    package = output_of("dpkg", "-S", library.resolve()).split(":")[0]
    source = pathlib.Path("/usr/share/doc", package, "copyright")
    if not source.is_file():
        sys.exit(f"bundle_libraries: {source} is missing; the license of {library.name} must be part of the wheel")
    folder.mkdir(exist_ok=True)
    shutil.copy(source, folder / f"{package}.txt")


def bundle(root: pathlib.Path) -> str:
    """Adds libraries to an unpacked wheel. @returns the platform tag"""
    package = root / "equarx"
    own = [path for path in package.rglob("*") if path.is_file() and is_elf(path)]
    bundled = package / "_libraries"
    bundled.mkdir()
    for name, path in {name: path for file in own for name, path in libraries_of(file).items()}.items():
        shutil.copy(path, bundled / name)
        add_license(path, bundled / "licenses")
    copies = [path for path in bundled.iterdir() if path.is_file()]
    for file in [*own, *copies]:
        file.chmod(0o755)
        relative = os.path.relpath(bundled, file.parent)
        subprocess.run(["patchelf", "--add-rpath", f"$ORIGIN/{relative}", str(file)], check=True)
    major, minor = newest_glibc([*own, *copies])
    return f"manylinux_{major}_{minor}_{os.uname().machine}"


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    wheel, folder = (pathlib.Path(argument) for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory() as temporary:
        output_of("/usr/bin/python3", "-m", "wheel", "unpack", "--dest", temporary, wheel)
        root = next(pathlib.Path(temporary).iterdir())
        platform = bundle(root)
        info = next(root.glob("*.dist-info/WHEEL"))
        info.write_text(re.sub(r"(?m)^(Tag: [^-]+-[^-]+)-.*$", rf"\1-{platform}", info.read_text()))
        folder.mkdir(parents=True, exist_ok=True)
        print(output_of("/usr/bin/python3", "-m", "wheel", "pack", "--dest-dir", folder, root).strip())


if __name__ == "__main__":
    main()
