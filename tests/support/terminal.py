"""A command whose standard error is a terminal."""
import fcntl
import os
import pty
import struct
import subprocess
import termios


def seen(command: list, terminal: str = "xterm", columns: int = 80, **how) -> tuple[int, str]:
    """How the command ends, and what a terminal of that kind and width gets on standard error."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=os.environ | {"TERM": terminal},
                             **how)
    os.close(theirs)
    text = b""
    try:
        while block := os.read(ours, 4096):
            text += block
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    return child.wait(), text.decode()
