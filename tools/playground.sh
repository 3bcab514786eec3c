#!/usr/bin/env bash
# Sets everything up and builds the playground: build/playground/index.html, one file for any static host or disk, and
# plain.html for browsers without SIMD.
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh emscripten libc++-16-dev-wasm32
# Where Node.js is not Debian's, it does not look for Debian's modules, which Emscripten needs.
export NODE_PATH=/usr/share/nodejs${NODE_PATH:+:$NODE_PATH}
bash tools/build.sh web

npm ci --prefix tools/playground --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error >&2
assemble() { node tools/playground/assemble.mjs --version "$(git describe --always --dirty 2>/dev/null || true)" "$@"; }
assemble --out build/playground/index.html --glue build/web/simd/engine.js --wasm build/web/simd/engine.wasm \
  --plain-page plain.html
assemble --out build/playground/plain.html --plain-glue build/web/plain/engine.js --plain-wasm build/web/plain/engine.wasm
