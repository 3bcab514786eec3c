"""All faults by name: functions of a Place that raise a Failure if an invariant does not hold."""
FAULTS = {}
SLOW = set()  # faults that take more than about half a second


def fault(name: str, slow: bool = False):
    """Registers a function that causes a fault and checks its consequences."""
    def keep(function):
        if slow:
            SLOW.add(name)
        if name in FAULTS:
            raise ValueError(f"two faults are called '{name}'")
        FAULTS[name] = function
        return function
    return keep
