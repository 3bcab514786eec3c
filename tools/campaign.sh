#!/usr/bin/env bash
# Sets everything up, builds, and runs the campaign: random configurations over every key, valid and
# malformed, each checked against invariants (tests/campaign). --help lists the options; a seed
# repeats a campaign, and SEED:NUMBER one case.
set -euo pipefail
cd "$(dirname "$0")/.."

case " $* " in
  *" --help "* | *" -h "*) exec /usr/bin/python3 -B tests/campaign/campaign.py "$@" ;;
esac
bash tools/setup.sh
bash tools/build.sh release equarx-sim
exec /usr/bin/python3 -B tests/campaign/campaign.py "$@"
