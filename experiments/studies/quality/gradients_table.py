"""Tables of the gradients study: losses against bf16's, and the time to reach a loss over several networks."""
import numpy as np

from intervals import over_seeds


def ends_of(rows: list[dict], steps: int) -> dict[str, dict[int, float]]:
    """Held-out loss after so many steps, by scheme and seed; without trainings that stopped earlier."""
    ends: dict[str, dict[int, float]] = {}
    for row in rows:
        if row["step"] == steps:
            ends.setdefault(row["scheme"], {})[row["seed"]] = row["held_out"]
    return ends


def differences(ends: dict[str, dict[int, float]], baseline: str) -> dict[str, dict[str, float]]:
    """Loss above the baseline's of the same seed: mean, and its 95 % interval over seeds (a point for one seed)."""
    found = {}
    for name, by_seed in ends.items():
        mean, half = over_seeds([loss - ends[baseline][seed] for seed, loss in by_seed.items()])
        found[name] = {"mean": mean, "low": mean - half, "high": mean + half}
    return found


def steps_to(rows: list[dict], goal: float) -> dict[str, int]:
    """First evaluated step at which the mean over seeds reaches a held-out loss, by scheme; without schemes that do
    not."""
    losses: dict[str, dict[int, list[float]]] = {}
    for row in rows:
        losses.setdefault(row["scheme"], {}).setdefault(row["step"], []).append(row["held_out"])
    reached = {name: [step for step in sorted(by_step) if np.mean(by_step[step]) <= goal]
               for name, by_step in losses.items()}
    return {name: steps[0] for name, steps in reached.items() if steps}


def times_to(steps: dict[str, int], step_s: dict[str, float]) -> dict[str, float]:
    """Seconds, of schemes that are timed."""
    return {name: count * step_s[name] for name, count in steps.items() if name in step_s}


def print_losses(ends: dict[str, dict[int, float]], above: dict[str, dict[str, float]]) -> None:
    print(f"\n{'':26}{'final loss':>12}{'lowest':>9}{'highest':>9}{'above the baseline (95 %)':>34}")
    for name, by_seed in ends.items():
        losses, one = list(by_seed.values()), above[name]
        print(f"{name:26}{np.mean(losses):12.3f}{min(losses):9.3f}{max(losses):9.3f}"
              f"{one['mean']:+14.4f} ({one['low']:+.4f} to {one['high']:+.4f})")


def print_times(title: str, step_s: dict[str, dict[str, float]], goals: tuple, reached: dict[str, list[dict]]) -> None:
    """A table for each network: seconds of a step, and to each goal."""
    print(f"\nTimes: {title}, simulated; losses: the small model that was trained here")
    for network, seconds in step_s.items():
        print(f"\n{network:26}{'step':>10}" + "".join(f"{f'to {goal:.3f}':>12}" for goal in goals))
        for name, each in seconds.items():
            print(f"{name:26}{each:8.3f} s" + "".join(
                f"{times[name]:10.0f} s" if name in times else f"{'-':>12}" for times in reached[network]))
