#!/bin/sh
# Runs pytest with the given arguments. A few tests that fail among thousands are run once more, alone and in order: what
# passes then was hurt by the load of the others, is named as UNSTEADY at the end, and is a defect of the test to mend.
set -u
cd "$(dirname "$0")/.."

unset PYTHONDONTWRITEBYTECODE # hundreds of tests start a bot: each would compile all modules anew, for a second and a half
MOST_AGAIN=10
MNEMA_FAILED_TESTS=$(mktemp)
export MNEMA_FAILED_TESTS
trap 'rm -f "$MNEMA_FAILED_TESTS"' EXIT

# Folders of tests are in memory where there is room: what is synced there takes a sixth less of the cores.
free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
if [ -z "${TMPDIR:-}" ] && [ "${free:-0}" -gt 4000000 ] && [ -w /dev/shm ] && ! grep -q '/dev/shm .*noexec' /proc/mounts; then
    TMPDIR=$(mktemp -d /dev/shm/mnema.XXXXXX)
    chmod 755 "$TMPDIR" # PostgreSQL is started by another account
    export TMPDIR
    trap 'rm -rf "$MNEMA_FAILED_TESTS" "$TMPDIR"' EXIT
fi

.venv/bin/pytest "$@"
code=$?
count=$(grep -c . "$MNEMA_FAILED_TESTS" || true)
if [ "$code" -ne 1 ] || [ "$count" -eq 0 ] || [ "$count" -gt "$MOST_AGAIN" ]; then exit "$code"; fi

echo "$count of the tests failed; once more, alone:"
unsteady=$(cat "$MNEMA_FAILED_TESTS")
: >"$MNEMA_FAILED_TESTS"
printf '%s\n' "$unsteady" | tr '\n' '\0' | xargs -0 .venv/bin/pytest || exit 1
printf '%s\n' "$unsteady" | while IFS= read -r name; do echo "UNSTEADY: $name failed beside others and passed alone"; done
