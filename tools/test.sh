#!/usr/bin/env bash
# Sets up, then runs every test: the unit tests and the suite on each device of this build. Options go to ctest (-L smoke, …).
. "$(dirname "$0")/setup.sh"
ctest --preset release --no-tests=error -j2 "$@"
