"""Commands that receive SIGTERM, SIGINT or SIGHUP at random moments."""
import signal

from killed_commands import COMMANDS
from kills import Killer
from program import Place
from registry import fault

ASKED = ("sweep", "reproduce", "tune", "calibrate", "run --trace", "run --output-tensors", "import")
QUICK = ("tune", "run --trace")


def asking(name: str, ending: signal.Signals):
    def ask(place: Place) -> None:
        killer = Killer(place.program, place.folder, name, seed=int(ending), ending=ending)
        for _ in range(2):
            killer.kill_once()
        killer.finish_and_compare()
    return ask


for command in ASKED:
    assert command in COMMANDS
    for ending in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        fault(f"{ending.name} at {command}", slow=command not in QUICK)(asking(command, ending))
