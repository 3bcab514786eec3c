#!/usr/bin/env bash
# Builds one package from the sources. Usage: tools/package.sh deb|wheel|image [FOLDER]
#   deb    Debian package of the program, pictures, docs and Python module        (FOLDER, default:
#   build/packages)
#   wheel  Python wheel for the system's interpreter, with the program inside it  (FOLDER, default: build/packages)
#   image  container image equarx-sim of the Dockerfile; needs a Docker daemon
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n 's/^# \{0,1\}//;2,5p' "$0" >&2; exit 2; }
if [ $# -lt 1 ] || [ $# -gt 2 ]; then usage; fi
folder=${2:-build/packages}

case $1 in
  deb)
    bash tools/setup.sh dpkg-dev
    bash tools/build.sh release equarx-sim equarx-sim-shell equarx_python
    mkdir -p "$folder"
    cpack -G DEB --config build/release/CPackConfig.cmake -B "$folder" >/dev/null
    rm -rf "$folder/_CPack_Packages"
    ls "$folder"/*.deb
    ;;
  wheel)
    bash tools/setup.sh python3-pip python3-setuptools python3-wheel
    bash tools/build.sh release equarx-sim equarx-sim-shell equarx_python
    mkdir -p "$folder"
    EQUARX_BUILD=build/release /usr/bin/python3 -m pip wheel --quiet --no-build-isolation --no-index --no-deps \
      --wheel-dir "$folder" .
    ls "$folder"/*.whl
    ;;
  image)
    command -v docker >/dev/null || { echo "package: install Docker, or build the stages of the Dockerfile by hand" >&2; exit 1; }
    docker build --tag equarx-sim .
    ;;
  *) usage ;;
esac
