#!/usr/bin/env bash
# Fails for public declarations without a comment. Members of a class or a struct may be covered by
# its own comment, since a name such as `links` needs no sentence of its own; name(x) is the text
# form of x. Every other declaration has a sentence.
set -euo pipefail
cd "$(dirname "$0")/../.."

mkdir -p build
log=$(mktemp)
trap 'rm -f "$log"' EXIT
doxygen tools/doxygen/Doxyfile >/dev/null 2>"$log"
covered='Member (.* of (class|struct)|name\().*is not documented\.$'
if grep -vE "$covered" "$log" | sed "s#^$PWD/##" | grep . >&2; then exit 1; fi
