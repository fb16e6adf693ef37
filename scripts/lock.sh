#!/bin/sh
# Writes the lock files from pyproject.toml; with --check, fails if they are not current (if the index answers).
set -eu
cd "$(dirname "$0")/.."

options="--universal --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --no-annotate -q"
added="vectors embeddings web otel mcp passkeys"  # their locks hold only what they add to requirements.lock
locks="requirements.lock requirements-scale.lock requirements-dev.lock"
for extra in $added; do locks="$locks requirements-$extra.lock"; done

lock() {  # lock FOLDER: keeps locked versions that satisfy pyproject.toml; `set -e` is off under `if`
    # shellcheck disable=SC2086  # the options are words
    .venv/bin/uv pip compile $options pyproject.toml --extra all --extra dev --extra build -o "$1/requirements-dev.lock" || return
    # shellcheck disable=SC2086
    .venv/bin/uv pip compile $options pyproject.toml --extra build -c "$1/requirements-dev.lock" -o "$1/requirements.lock" ||
        return
    # shellcheck disable=SC2086
    .venv/bin/uv pip compile $options pyproject.toml --extra build --extra scale -c "$1/requirements-dev.lock" \
        -o "$1/requirements-scale.lock" || return
    for extra in $added; do lock_added "$1" "$extra" || return; done
}

lock_added() {  # lock_added FOLDER EXTRA: resolved with the core, then written without it
    whole=$(mktemp)
    if [ -f "$1/requirements-$2.lock" ]; then cat "$1/requirements.lock" "$1/requirements-$2.lock" >"$whole"; fi
    # shellcheck disable=SC2086
    .venv/bin/uv pip compile $options pyproject.toml --extra build --extra "$2" -c "$1/requirements-dev.lock" -o "$whole" ||
        return
    awk 'FNR == NR { if (/^[a-z0-9]/) { split($1, pin, "=="); core[pin[1]] } next }
         /^[a-z0-9]/ { split($1, pin, "=="); wanted = !(pin[1] in core) } wanted' \
        "$1/requirements.lock" "$whole" >"$1/requirements-$2.lock"
    rm -f "$whole"
}

# shellcheck disable=SC2086
if grep -nE 'https?://' $(ls $locks 2>/dev/null); then
    echo "A lock file names a host; it must not." >&2
    exit 1
fi
if [ "${1:-}" != --check ]; then
    lock .
    exit 0
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# shellcheck disable=SC2086
cp $locks "$folder"
if ! lock "$folder" 2>"$folder/why" >/dev/null; then
    echo "lock check skipped, the package index did not answer: $(tail -n 1 "$folder/why")" >&2
    exit 0
fi
for name in $locks; do
    if ! diff -q "$name" "$folder/$name" >/dev/null; then
        echo "$name does not match pyproject.toml: run make lock." >&2
        exit 1
    fi
done
