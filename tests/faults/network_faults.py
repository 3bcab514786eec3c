"""No network: nothing is fetched or sent at run time, with or without a network."""
import re
import shutil

from program import Place, Skipped, check, check_done
from registry import fault

NETWORK = {"socket", "connect", "getaddrinfo", "gethostbyname", "bind", "listen", "accept", "sendto", "recvfrom"}
LOADED = re.compile(r"""(?:src|href|action|data|srcset)\s*=\s*["']?\s*(?:https?:)?//|"""
                    r"""url\(\s*["']?(?:https?:)?//|@import""", re.I)


@fault("the program calls no network functions")
def no_way(place: Place) -> None:
    if not shutil.which("nm"):
        raise Skipped("nm is not installed")
    listed = place.run("-D", "--undefined-only", place.program, program=["nm"])
    check_done(listed)
    used = {line.split()[-1].split("@")[0] for line in listed.out.decode().splitlines()}
    check(len(used) > 100, "nm lists nothing")
    check(not used & NETWORK, f"it calls {sorted(used & NETWORK)}")


@fault("no network")
def no_network(place: Place) -> None:
    alone = ["unshare", "--net", "--map-root-user"]
    if not shutil.which("unshare") or place.run(before=alone, program=["true"]).code != 0:
        raise Skipped("the network cannot be disabled here")
    for words in (["run", place.config(), "--json"], ["tune", "config.json"], ["hardware"]):
        here, there = place.run(*words), place.run(*words, before=alone)
        check_done(there)
        check(here.out == there.out, f"{words[0]}: different result without a network")


@fault("the report page loads nothing")
def page_loads_nothing(place: Place) -> None:
    (place.folder / "result.json").write_bytes(place.run("run", place.config(), "--json", "--links").out)
    check_done(place.run("report", "result.json", "-o", "page.html"))
    page = (place.folder / "page.html").read_text()
    check(not LOADED.search(page), "the page loads a resource")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    check(policy.startswith("default-src 'none';") and "http" not in policy, f"its policy is too permissive: {policy}")
