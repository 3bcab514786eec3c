"""Python processes of their own."""
import subprocess
import sys


def ran(code: str, **options) -> subprocess.CompletedProcess:
    """A process of this interpreter that runs `code`, once it has ended."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **options)
