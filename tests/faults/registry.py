"""All faults by name: functions of a Place that raise a Failure where an invariant does not hold."""
FAULTS = {}
SLOW = set()  # those that take more than about half a second


def fault(name: str, slow: bool = False):
    """Decorates a function that makes a fault of the computer and looks at what comes of it."""
    def keep(function):
        if slow:
            SLOW.add(name)
        if name in FAULTS:
            raise ValueError(f"two faults are called '{name}'")
        FAULTS[name] = function
        return function
    return keep
