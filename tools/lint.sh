#!/usr/bin/env bash
# What can be seen without running anything: formatting, clang-tidy (.clang-tidy), shellcheck, and whether every
# public declaration is described.
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh clang clang-format clang-tidy doxygen shellcheck

echo "lint: clang-format" >&2
git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror
echo "lint: shellcheck" >&2
git ls-files '*.sh' .ci/run | xargs shellcheck
echo "lint: descriptions of public declarations" >&2
bash tools/doxygen/check.sh

# Several files at a time, because reading their headers takes longest; and what the build writes must be there.
bash tools/build.sh tidy equarx_chakra_wire equarx_embedded equarx_report_page equarx_version
echo "lint: clang-tidy (three to eight minutes on two cores)" >&2
sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' build/tidy/compile_commands.json |
  grep -v '\.pb\.cc$' | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p build/tidy 2>/dev/null
