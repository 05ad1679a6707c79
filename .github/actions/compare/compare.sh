#!/usr/bin/env bash
# Compares runs with a baseline, and adds a table to the summary of the job; the exit status is that of the command.
set -u
words=("$QRELS")
# Words and patterns are meant to be split and expanded here.
# shellcheck disable=SC2206
words+=($RUNS --baseline "$BASELINE" --fail-if-worse --junit "$JUNIT" ${OPTIONS:-})
for measure in $MEASURES; do words+=(-m "$measure"); done
if [ -n "${MARGIN:-}" ]; then words+=(--margin "$MARGIN"); fi
said=$(mktemp)
gainful compare "${words[@]}" --format markdown 2> "$said" | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
status=${PIPESTATUS[0]}
cat "$said" >&2
{ echo; echo '```text'; cat "$said"; echo '```'; } >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "$status"
