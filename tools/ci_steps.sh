#!/usr/bin/env bash
# What tipstaff does in a pipeline: STEPS of lint, scan, check, size; BASE is the commit that the change is compared with,
# SARIF the folder for findings. Every step runs, and the status is 1 if one of them failed.
set -uo pipefail
STEPS=${STEPS:-lint scan check size} BASE=${BASE:-} SARIF=${SARIF:-tipstaff-sarif}
SUMMARY=${GITHUB_STEP_SUMMARY:-/dev/null}
mkdir -p "$SARIF"
failed=0

# Runs a command, says its status beside its name, and remembers a failure.
step() {
  local name=$1 status=0
  shift
  "$@" || status=$?
  echo "tipstaff $name: exit status $status" | tee -a "$SUMMARY"
  [ "$status" = 0 ] || failed=1
}

with_sarif() {
  local name=$1 status=0
  shift
  "$@" --format sarif > "$SARIF/$name.sarif" || status=$?
  "$@" || true
  return "$status"
}

sizes() {
  git diff --name-only --diff-filter=d -z "$BASE..." | xargs -0 -r tipstaff review size --
}

for name in $STEPS; do
  case $name in
    lint | scan) step "$name" with_sarif "$name" tipstaff "$name" ;;
    check)
      format=text
      [ -z "${GITHUB_ACTIONS:-}" ] || format=github
      step check tipstaff check --changed ${BASE:+--base "$BASE"} --format "$format" --report "$SARIF/checks.json"
      ;;
    size) if [ -n "$BASE" ]; then step size sizes; fi ;;
    *) echo "unknown step: $name (lint, scan, check, size)" >&2; exit 2 ;;
  esac
done
exit "$failed"
