#!/usr/bin/env python3
"""Writes docs/python_reference.md from the docstrings of the package.

Usage: PYTHONPATH=build/release/python /usr/bin/python3 tools/docs/python_reference.py [--check]
With --check the exit code is 1 if the page is stale.
"""
import inspect
import pathlib
import re
import sys
import textwrap

import equarx

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python_reference.md"
HEAD = """# Python reference

Generated from the docstrings of `equarx` by `tools/docs/python_reference.py`; [python.md](python.md) is the guide.
Functions raise `equarx.InputError`, a `ValueError` with the JSON pointer in `pointer`, for invalid input.
"""
SECTIONS = {
    "Collectives on arrays": ("allreduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "neighbor_average",
                              "Outcome", "Lazy", "AutomaticMu", "Program", "contract", "vectors", "check_vectors"),
    "Schedules": ("schedule", "Schedule", "ProgramWriter", "Part", "Encoded", "Sent", "Channel"),
    "Formats": ("formats", "Codec", "compare_formats", "FormatComparison", "quantize", "dequantize", "matmul",
                "attention", "experts", "Quantized", "Stored"),
    "Simulated experiments": ("run", "show", "validate", "sweep", "tune", "advise", "report", "compare", "Result", "Run",
                              "Swept", "Tuned", "TunedStep", "Advice", "Tensors", "Picture", "Record"),
    "Serving": ("serve", "plan", "Served", "CapacityPlan"),
    "Programs and traces": ("import_hlo", "import_chakra", "import_kineto", "import_xprof", "import_msccl",
                            "export_chakra", "export_msccl", "export_table", "CommunicationModel",
                            "Prediction", "Imported"),
    "Machines and measurements": ("hardware", "topology", "kernels", "calibrate", "accuracy", "reproduce", "Timed",
                                  "Calibrated", "Study"),
    "Errors": ("InputError", "ProgramError", "DefectError"),
}
WIDTH = 120


def markdown(text: str) -> str:
    """A docstring as Markdown: lines such as "name: meaning", with indented ones after them, become items."""
    blocks = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if all(line.startswith("    ") for line in block.splitlines()):
            blocks.append(f"```text\n{textwrap.dedent(block)}\n```")
            continue
        lines: list[str] = []
        for line in block.replace("``", "`").splitlines():
            is_item = re.match(r"[a-z_]+(, [a-z_]+)*: ", line) is not None
            if is_item:
                names, meaning = line.split(": ", 1)
                lines.append("- " + ", ".join(f"`{name}`" for name in names.split(", ")) + f": {meaning}")
            elif lines:
                lines[-1] += " " + line.strip()
            else:
                lines.append(line.strip())
        blocks.append("\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  " * line.startswith("- "),
                                              break_long_words=False, break_on_hyphens=False) for line in lines))
    return "\n\n".join(blocks)


def signature(name: str, member) -> str:
    """The call as Python, wrapped."""
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", f"{name}{inspect.signature(member)}")  # annotations are texts
    return textwrap.fill(text, WIDTH - 4, subsequent_indent="    ", break_long_words=False)


def members(owner: type) -> list[str]:
    """Documented public methods and properties, one line each."""
    lines = []
    for name, member in vars(owner).items():
        text = inspect.getdoc(member)
        if name.startswith("_") or not text or text.startswith("See ") or not (isinstance(member, property) or inspect.isfunction(member)):
            continue
        call = "" if isinstance(member, property) else "()"
        first = " ".join(re.split(r"\n\s*\n", text)[0].replace("``", "`").split())
        lines.append(textwrap.fill(f"- `{name}{call}`: {first}", WIDTH, subsequent_indent="  ", break_long_words=False,
                                   break_on_hyphens=False))
    return lines


def entry(name: str, described: dict[str, str]) -> str:
    """`described`: names of functions by the part of their docstring that follows the first sentence."""
    member = getattr(equarx, name)
    parts = [f"### {name}"]
    if not inspect.isclass(member):
        parts.append(f"```text\n{signature(f'equarx.{name}', member)}\n```")
    first, _, rest = markdown(inspect.getdoc(member) or "").partition("\n\n")
    parts.append(first)
    if rest and described.setdefault(rest, name) != name:
        parts.append(f"Arguments are as of [{described[rest]}](#{described[rest]}).")
    elif rest:
        parts.append(rest)
    if inspect.isclass(member) and (found := members(member)):
        parts.append("\n".join(found))
    return "\n\n".join(parts)


def page() -> str:
    listed = [name for names in SECTIONS.values() for name in names]
    if sorted(listed) != sorted(equarx.__all__):
        sys.exit(f"python_reference.py: SECTIONS and equarx.__all__ differ: {sorted(set(listed) ^ set(equarx.__all__))}")
    described: dict[str, str] = {}
    sections = [f"## {title}\n\n" + "\n\n".join(entry(name, described) for name in names)
                for title, names in SECTIONS.items()]
    return "\n".join([HEAD, "\n\n".join(sections)]) + "\n"


def main() -> None:
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") != page():
            sys.exit(f"{PAGE} is stale; run tools/docs/python_reference.py")
        return
    if sys.argv[1:]:
        sys.exit(__doc__)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
