"""Random choices, reproducible by a seed."""
import math
import random


class Draw(random.Random):
    """Seeded by a text like "1:17", so that cases do not depend on the process that makes them or
    on their order."""

    def chance(self, share: float) -> bool:
        return self.random() < share

    def log(self, least: float, most: float) -> float:
        return math.exp(self.uniform(math.log(least), math.log(most)))

    def whole(self, least: int, most: int) -> int:
        """Small numbers more often than large ones."""
        return min(most, int(self.log(least, most + 1)))

    def some(self, entries: list, least: int = 0) -> list:
        return self.sample(entries, self.randint(min(least, len(entries)), len(entries)))


def quantity(value: float, unit: str) -> str:
    return f"{value:.6g} {unit}"


def time(draw: Draw, least_s: float, most_s: float) -> str:
    """In one of the usual units."""
    seconds = draw.log(least_s, most_s)
    unit, factor = draw.choice([("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
    return quantity(seconds * factor, unit)


def size(draw: Draw, least: int, most: int, multiple: int = 1) -> object:
    """Bytes: an integer, or with a unit."""
    count = max(1, draw.whole(least, most) // multiple) * multiple
    way = draw.randrange(4)
    if way == 0:
        return count
    if way == 1:
        return f"{count * 8} b"
    if way == 2 and count >= 1024:
        return f"{count // 1024} KiB"
    return f"{count} B"
