"""Runs the commands of a page in one shell, block after block."""
import os
import pathlib
import shlex
import subprocess
import tempfile

import picture_command

PYTHON_PLOT = f"/usr/bin/python3 {picture_command.PLOT}"
MARK = "\x1e"  # line after the output of each block

# This process draws the pictures: it receives the words of the command and returns the exit code.
PROLOGUE = r"""
set -eE
shopt -s expand_aliases
trap 'echo "this command of the page failed: $BASH_COMMAND" >&2' ERR
draw_picture() {
  local code
  printf '%s\n' "$PWD" "$#" "$@" >&"$REQUESTS"
  read -r code <&"$REPLIES"
  cat drawn.out
  cat drawn.err >&2
  return "$code"
}
"""


class Failed(AssertionError):
    """A command of the page has an exit code other than 0."""


def run(blocks: list[tuple[pathlib.Path, list[str]]], *, path: bool) -> list[str]:
    """Runs blocks of commands, each in its folder. Returns the standard output of each block.

    `path`: adds the folder of the program to PATH, as docs/README.md instructs.
    """
    script = [PROLOGUE]
    for folder, commands in blocks:
        script.append(f"cd {shlex.quote(str(folder))}\n")
        if path:
            script.append('PATH="$PWD/build/release:$PATH"\n')
        script += [command.replace(PYTHON_PLOT, "draw_picture") + "\n" for command in commands]
        script.append(f"printf '{MARK}\\n'\n")
    return _run_script("".join(script)).split(f"{MARK}\n")[:-1]


def _run_script(script: str) -> str:
    request_out, request_in = os.pipe()
    reply_out, reply_in = os.pipe()
    environment = {**os.environ, "REQUESTS": str(request_in), "REPLIES": str(reply_out)}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err, \
            tempfile.NamedTemporaryFile("w", suffix=".sh") as commands, \
            os.fdopen(request_out) as requests, os.fdopen(reply_in, "w") as replies:
        commands.write(script)
        commands.flush()
        with subprocess.Popen(["bash", commands.name], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                              env=environment, pass_fds=(request_in, reply_out)) as shell:
            os.close(request_in)
            os.close(reply_out)
            _serve(requests, replies)
        out.seek(0)
        err.seek(0)
        if shell.returncode != 0:
            raise Failed("\n".join(err.read().splitlines()[-5:]))
        return out.read()


def _serve(requests, replies) -> None:
    """Draws pictures until the shell ends."""
    before = pathlib.Path.cwd()
    while folder := requests.readline()[:-1]:
        words = [requests.readline()[:-1] for _ in range(int(requests.readline()))]
        os.chdir(folder)
        code, printed, errors = picture_command.draw(words)
        os.chdir(before)
        pathlib.Path(folder, "drawn.out").write_text(printed)
        pathlib.Path(folder, "drawn.err").write_text(errors)
        replies.write(f"{code}\n")
        replies.flush()
