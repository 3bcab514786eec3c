#!/usr/bin/env bash
# Installs the missing build dependencies of equarx-sim, on Debian and its derivatives.
# Does nothing, and needs no network, if all are installed.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config
  libsimgrid-dev libboost-dev libboost-graph-dev nlohmann-json3-dev libcli11-dev libfmt-dev
  libvalijson-dev libhwy-dev libprotobuf-dev protobuf-compiler libpugixml-dev libcereal-dev libexpected-dev
  libxxhash-dev libgsl-dev
  catch2 libbenchmark-dev librapidcheck-dev
  python3 python3-numpy python3-matplotlib python3-dev pybind11-dev
)
# The chart library of the report page comes from npm, which is part of Node.js from other sources.
command -v npm >/dev/null || packages+=(nodejs npm)
packages+=("$@")

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup: needs root to install: ${missing[*]}; run this as root, or install sudo" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "setup: installing with apt-get: ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
