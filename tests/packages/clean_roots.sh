#!/usr/bin/env bash
# Installs packages in clean Debian 12 roots and uses them there. Needs root, debootstrap and the package mirror of apt.
# Usage: tests/packages/clean_roots.sh FOLDER [deb] [wheel] [sdist]   (FOLDER: of tools/package.sh; default: all three)
set -euo pipefail

if [ $# -lt 1 ]; then sed -n 's/^# \{0,1\}//;2,3p' "$0" >&2; exit 2; fi
folder=$(realpath "$1")
shift
kinds=("$@")
if [ ${#kinds[@]} = 0 ]; then kinds=(deb wheel sdist); fi
if [ "$(id -u)" != 0 ]; then echo "clean_roots: run it as root, which chroot needs" >&2; exit 2; fi
command -v debootstrap >/dev/null || apt-get install -y -qq debootstrap >/dev/null

work=$(mktemp -d)
clean_up() {
  local mounted
  for mounted in "$work"/*/{proc,dev/pts,dev}; do
    if mountpoint -q "$mounted"; then umount "$mounted"; fi
  done
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT

mirror=$(apt-cache policy | sed -n 's#^ *[0-9]* \(http[^ ]*\) bookworm/main .*#\1#p' | head -1)
debootstrap --variant=minbase bookworm "$work/base" "${mirror:?no mirror of bookworm in the sources of apt}" >"$work/log" 2>&1 ||
  { tail -5 "$work/log" >&2; exit 1; }
cp -a /etc/apt/. "$work/base/etc/apt/"
if [ -e "$work/base/etc/apt/sources.list.d/debian.sources" ]; then rm -f "$work/base/etc/apt/sources.list"; fi
cp /etc/resolv.conf "$work/base/etc/"

# Prepares a copy of the clean root with some packages of apt, and prints its path.
new_root() {
  local root="$work/$1"
  shift
  cp -a "$work/base" "$root"
  mount -t proc proc "$root/proc"
  mount --bind /dev "$root/dev"
  mount --bind /dev/pts "$root/dev/pts"
  DEBIAN_FRONTEND=noninteractive chroot "$root" sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' \
    sh "$@" >"$work/log" 2>&1 || { tail -5 "$work/log" >&2; exit 1; }
  echo "$root"
}

# A run on each engine, values on arrays, and a decision.
cat >"$work/use.py" <<'PYTHON'
import equarx, numpy
config = {"hardware": "tpu-v5e", "topology": {"slice": "4x2"}, "tensor": {"bytes": "64 KiB"},
          "collectives": [{"label": "bf16", "algorithm": "ring"}, {"label": "int8", "algorithm": "equarx"}]}
times = {engine: equarx.run({**config, "engine": engine}).runs["int8"].time for engine in ("simgrid", "direct")}
assert abs(times["simgrid"] / times["direct"] - 1) < 1e-9, times
outcome = equarx.allreduce(numpy.ones((8, 4096), "f4"), "int8")
assert numpy.allclose(outcome.result, 8, rtol=0.01), outcome
equarx.advise(config)
print("clean_roots:", equarx.__version__, equarx.__file__)
PYTHON

use_deb() {
  local root
  root=$(new_root deb python3 python3-numpy)
  cp "$folder"/equarx-sim_*.deb "$root/root/"
  chroot "$root" sh -c 'apt-get install -y -qq --no-install-recommends /root/*.deb >/dev/null 2>&1'
  chroot "$root" sh -c 'cd /root && equarx-sim run configs/experiments/allreduce_v5e_4x2.json --set /engine=simgrid' >/dev/null
  cp "$work/use.py" "$root/root/"
  chroot "$root" python3 /root/use.py
}

# Into an environment of Python; NumPy, which has no wheel here, comes from Debian.
use_wheel() {
  local root
  root=$(new_root wheel python3 python3-venv python3-numpy)
  cp "$folder"/equarx-*.whl "$work/use.py" "$root/root/"
  chroot "$root" sh -c 'python3 -m venv --system-site-packages /root/venv &&
    /root/venv/bin/pip install --quiet --no-index /root/*.whl && /root/venv/bin/python /root/use.py'
}

use_sdist() {
  local root
  root=$(new_root sdist python3 python3-venv python3-pip python3-setuptools python3-wheel)
  cp "$folder"/equarx-*.tar.gz "$work/use.py" "$root/root/"
  chroot "$root" bash -c 'set -e; mkdir /root/source; tar -xzf /root/*.tar.gz -C /root/source --strip-components 1
    bash /root/source/tools/setup.sh >/dev/null 2>&1
    python3 -m venv --system-site-packages /root/venv
    /root/venv/bin/pip install --quiet --no-build-isolation --no-index --no-deps /root/*.tar.gz
    /root/venv/bin/python /root/use.py'
}

for kind in "${kinds[@]}"; do
  case $kind in
    deb | wheel | sdist) "use_$kind" ;;
    *) echo "clean_roots: '$kind' is not known; use one of deb, wheel, sdist" >&2; exit 2 ;;
  esac
done
