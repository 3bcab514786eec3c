#!/usr/bin/env bash
# Builds one package from the sources into FOLDER (default: build/packages).
# Usage: tools/package.sh deb|wheel|sdist|image [FOLDER]
#   deb    Debian package of the program, pictures, docs and Python module
#   wheel  Python wheel for the system's Python version, with the program and all libraries: manylinux, of this glibc
#   sdist  source archive, which pip builds: pip install --no-build-isolation equarx-VERSION.tar.gz
#   image  container image equarx-sim of the Dockerfile; needs a Docker daemon
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n 's/^# \{0,1\}//;2,7p' "$0" >&2; exit 2; }
if [ $# -lt 1 ] || [ $# -gt 2 ]; then usage; fi
folder=${2:-build/packages}

case $1 in
  deb)
    bash tools/setup.sh dpkg-dev
    bash tools/build.sh release equarx-sim equarx-sim-shell equarx_python equarx_capi
    mkdir -p "$folder"
    cpack -G DEB --config build/release/CPackConfig.cmake -B "$folder" >/dev/null
    rm -rf "$folder/_CPack_Packages"
    ls "$folder"/*.deb
    ;;
  wheel)
    bash tools/setup.sh binutils patchelf python3-pip python3-setuptools python3-wheel
    bash tools/build.sh release equarx-sim equarx-sim-shell equarx_python
    plain=$(mktemp -d)
    trap 'rm -rf "$plain"' EXIT
    EQUARX_BUILD=build/release /usr/bin/python3 -m pip wheel --quiet --no-build-isolation --no-index --no-deps \
      --wheel-dir "$plain" .
    /usr/bin/python3 tools/python/bundle_libraries.py "$plain"/*.whl "$folder"
    ls "$folder"/*.whl
    ;;
  sdist)
    bash tools/setup.sh python3-setuptools
    mkdir -p "$folder"
    /usr/bin/python3 setup.py --quiet sdist --dist-dir "$folder"
    ls "$folder"/*.tar.gz
    ;;
  image)
    command -v docker >/dev/null || { echo "package: install Docker, or build the stages of the Dockerfile by hand" >&2; exit 1; }
    docker build --tag equarx-sim .
    ;;
  *) usage ;;
esac
