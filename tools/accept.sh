#!/usr/bin/env bash
# From a fresh checkout to a decision: set up, run every case on a device, report, decide.
#
#   tools/accept.sh [--device mps|cuda|cpu] [--require training|inference|preprocessing] [--jobs N]
#
# The device is the best one here unless named. Evidence stays in build/accept/evidence, the report in report/. The exit code is
# that of `driftgate decide`: 0 sound, or the required level is earned; 1 drift or refused; 2 broken; 3 cannot be judged here.
set -euo pipefail
device='' decide=() run=()                  # expanded below so that bash 3.2 takes them when empty
while [ $# -gt 0 ]; do
  case $1 in
    --device) device=${2:?--device needs a name} ;;
    --require) decide=(--require "${2:?--require needs a level}") ;;
    --jobs) run=(--jobs "${2:?--jobs needs a number}") ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift 2
done

. "$(dirname "$0")/setup.sh"
export PYTORCH_ENABLE_MPS_FALLBACK=0 OMP_NUM_THREADS=1

[ -n "$device" ] || device=$("$driftgate" doctor --best)
status=0
"$driftgate" doctor --device "$device" || status=$?
case $status in
  0) ;;
  77) say "There is no $device device on this host: nothing was judged."; exit 3 ;;
  2) exit 2 ;;
  *) say "The $device device did not pass the gate: nothing was judged."; exit 3 ;;
esac

evidence=build/accept/evidence
"$driftgate" run --device "$device" --out "$evidence" --fresh ${run[@]+"${run[@]}"}
status=0
"$driftgate" judge "$evidence" || status=$?
[ "$status" != 2 ] || exit 2
"$driftgate" report "$evidence" --format json,md,junit --out report || status=$?
[ "$status" != 2 ] || exit 2

echo "Judged device: $device. Report: report/report.md"
"$driftgate" decide "$evidence" ${decide[@]+"${decide[@]}"}
