"""A command whose standard error is a terminal."""
import fcntl
import os
import pty
import struct
import subprocess
import termios


def seen(command: list, terminal: str = "xterm", columns: int = 80, **how) -> tuple[int, str]:
    """Exit code of the command, and its output to a terminal of that kind and width on standard error."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=os.environ | {"TERM": terminal},
                             **how)
    os.close(theirs)
    text = b""
    try:
        while block := os.read(ours, 4096):
            text += block
    except OSError:  # closed by the command
        pass
    os.close(ours)
    return child.wait(), text.decode()
