#!/usr/bin/python3
"""A program that violates the invariants of faults, to test the harness. EQUARX_BREAKS selects the
violation: "half" writes half a file under its final name, then the rest; "orphan" leaves a process;
"loses" drops lines that it had; "aborts" ends by a signal if standard error is closed."""
import os
import pathlib
import subprocess
import sys
import time

LINES = [f'{{"point":{number}}}\n' for number in range(20)]


def sweep(out: pathlib.Path, breaks: str) -> None:
    out.mkdir(parents=True, exist_ok=True)
    file = out / "results.jsonl"
    there = file.read_text().splitlines(True) if file.exists() else []
    if breaks == "loses" and there:
        file.write_text("")
        there = []
        time.sleep(0.3)
    with file.open("a") as lines:
        for line in LINES:
            if line not in there:
                lines.write(line)
                lines.flush()
                time.sleep(0.02)


def write(file: pathlib.Path, breaks: str) -> None:
    text = "a result" * 1000
    if breaks == "half":
        file.write_text(text[:100])
        time.sleep(0.3)
    else:
        time.sleep(0.3)
    part = file.with_name(".equarx-0.part")
    part.write_text(text)
    part.replace(file)


def main() -> int:
    breaks = os.environ.get("EQUARX_BREAKS", "")
    words = sys.argv[1:]
    if breaks == "orphan":
        subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if breaks == "aborts" and words[:1] == ["run"]:
        os.abort()
    if words[0] == "sweep":
        sweep(pathlib.Path(words[-1]), breaks)
    else:
        write(pathlib.Path(words[-1]), breaks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
