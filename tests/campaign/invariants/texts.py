"""Invariants of configurations and of the program's own output."""
import json

import program
from desk import Desk
from invariants.results import expect


def show(desk: Desk, content: dict, _draw) -> None:
    """A resolved configuration resolves to itself, and has the result of the original."""
    first = desk.of("show", content["config"])
    validated = desk.of("validate", content["config"])
    expect(first.code == validated.code or validated.refused, "show", f"show {first.code}, validate {validated.code}")
    if first.refused:
        return
    shown = program.parse(first.out)
    second = desk.of("show", shown)
    expect(second.code == 0, "show", f"show refuses its own output: {second.err}")
    expect(second.out == first.out, "show", "show of its own output is not the same")
    one, other = desk.of("run", content["config"], "--json"), desk.of("run", shown, "--json")
    expect(one.code == other.code, "show", f"run of its output: {other.code} {other.err}")
    expect(one.out == other.out, "show", "its output has a different result")
    if one.code == 0:
        again = program.parse(one.out)
        expect(again["config"] == shown, "show", "a result's configuration differs from show")
        fed_back = desk.of("run", again["config"], "--json")
        expect(fed_back.out == one.out, "feedback", f"the result of a result's configuration differs: {fed_back.err}")


def validate(desk: Desk, content: dict, _draw) -> None:
    """A runnable configuration is valid, and a refused one is refused with the same message."""
    ran, validated = desk.of("run", content["config"], "--json"), desk.of("validate", content["config"])
    expect(ran.code == validated.code, "validate",
           f"validate {validated.code} {validated.err}, run {ran.code} {ran.err}")
    if ran.refused:  # long commands show progress
        expect(ran.err == validated.err, "validate", f"validate prints {validated.err}, run {ran.err}")


def overrides(desk: Desk, content: dict, draw) -> None:
    """--set is equivalent to changing the file."""
    key = draw.choice(sorted(content["config"]))
    without = {name: value for name, value in content["config"].items() if name != key}
    whole = desk.of("run", content["config"], "--json")
    by_option = desk.of("run", without, "--json", "--set", f"/{key}={json.dumps(content['config'][key])}")
    expect(whole.code == by_option.code, "override", f"/{key}: {whole.err or by_option.err}")
    expect(whole.out == by_option.out, "override", f"/{key}: different result")


def table(desk: Desk, content: dict, _draw) -> None:
    """The table is printed whenever JSON is."""
    as_json, as_table = desk.of("run", content["config"], "--json"), desk.of("run", content["config"])
    expect(as_json.code == as_table.code, "table", f"{as_table.code} {as_table.err}")
    if as_json.refused:  # long commands show progress
        expect(as_json.err == as_table.err, "table", f"{as_json.err} {as_table.err}")
    expect(as_table.refused or as_table.out.count("\n") > 2, "table", f"{as_table.out!r}")
