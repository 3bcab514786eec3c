#!/usr/bin/env bash
# Builds the program and measures the rows of docs/speed.md: CPU time, wall time, memory, and ratios to a copy or
# a plain loop of the same run. Compares the ratios with the kept ones.
# Usage: tests/benchmarks/table.sh [OPTIONS] [ROW...]   (--help prints them)
set -euo pipefail
cd "$(dirname "$0")/../.."

/usr/bin/python3 -B tests/benchmarks/table.py --list "$@" >/dev/null || exit 2  # options, before the build
case " $* " in
  *" --help "* | *" -h "* | *" --list "* | *" --check "*) ;;
  *) bash tools/build.sh release equarx-sim equarx_python reference_benchmark numerics_benchmark ;;
esac
exec /usr/bin/python3 -B tests/benchmarks/table.py "$@"
