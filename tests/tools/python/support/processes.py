"""Separate Python processes."""
import subprocess
import sys


def ran(code: str, **options) -> subprocess.CompletedProcess:
    """Runs `code` in a process of this interpreter, and returns the finished process."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **options)
