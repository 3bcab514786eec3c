"""The paths of all keys in JSON, like `runs[].breakdown.payload_s`."""


def paths(value, closed: set[str] = frozenset(), path: str = "") -> set[str]:
    """All paths below `path`, without those inside of `closed`, which another page describes."""
    if path in closed:
        return set()
    if isinstance(value, list):
        return {found for entry in value for found in paths(entry, closed, f"{path}[]")}
    if not isinstance(value, dict):
        return set()
    found = set()
    for key, entry in value.items():
        here = f"{path}.{key}" if path else key
        found |= {here} | paths(entry, closed, here)
    return found
