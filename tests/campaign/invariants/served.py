"""Invariants of served loads."""
import program
from desk import Desk
from invariants.results import expect, near


def served(desk: Desk, content: dict, _draw) -> None:
    """All requests and tokens are accounted for, latencies are sums of states, and the resolved configuration gives
    the same."""
    answer = desk.of("serve", content["config"], "--json", "--requests")
    if answer.refused:
        return
    found = program.parse(answer.out)
    requests = found["requests_list"]
    expect(len(requests) == found["requests"], "requests", f"{len(requests)} of {found['requests']}")
    states = [name for name in found["latency_share"]]
    for number, one in enumerate(requests):
        spent = sum(one[f"{state}_s"] for state in states)
        expect(near(spent, one["latency_s"], 1e-9, 1e-12), "states",
               f"request {number} spends {spent} s, but takes {one['latency_s']} s")
        expect(0 < one["ttft_s"] <= one["latency_s"] * (1 + 1e-12), "ttft", f"request {number}: {one['ttft_s']} s")
    _tokens(found, requests)
    _prefixes(found, requests)
    again = desk.of("serve", found["config"], "--json", "--requests")
    expect(not again.refused and program.parse(again.out) == found, "resolved",
           "the resolved configuration gives other results")


def _tokens(found: dict, requests: list[dict]) -> None:
    """Without preemption, each token but the first of a request is decoded once."""
    if found["preemptions"]:
        return
    decoded = sum(one["output"] - 1 for one in requests)
    expect(found["steps"]["decode_tokens"] == decoded, "tokens",
           f"{found['steps']['decode_tokens']} decoded, of {decoded}")


def _prefixes(found: dict, requests: list[dict]) -> None:
    """At least one token of each prompt is computed, and without preemption each that is not found, once."""
    for number, one in enumerate(requests):
        expect(one["prompt_found"] < one["prompt"], "found", f"request {number}: {one['prompt_found']} tokens")
    prompts = sum(one["prompt"] for one in requests)
    cached = sum(one["prompt_found"] for one in requests)
    expect(near(found["prefix_hit_rate"], cached / prompts, 1e-12), "hit rate", f"{found['prefix_hit_rate']}")
    computed = found.get("prefill", found["steps"])["prompt_tokens"]
    preempted = found["preemptions"] or "prefill" in found
    expect(preempted or computed == prompts - cached, "prompts", f"{computed} tokens computed of {prompts - cached}")
