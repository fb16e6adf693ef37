#!/bin/sh
# Writes the lock files from pyproject.toml, or with --check says whether they are current (when the index answers).
set -eu
cd "$(dirname "$0")/.."

options="--universal --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --no-annotate -q"

lock() {  # lock FOLDER: what is locked there already stays as long as it satisfies
    # shellcheck disable=SC2086  # the options are words
    .venv/bin/uv pip compile $options pyproject.toml --extra all --extra dev --extra build -o "$1/requirements-dev.lock"
    # shellcheck disable=SC2086
    .venv/bin/uv pip compile $options pyproject.toml --extra build -c "$1/requirements-dev.lock" -o "$1/requirements.lock"
    # shellcheck disable=SC2086
    .venv/bin/uv pip compile $options pyproject.toml --extra build --extra scale -c "$1/requirements-dev.lock" \
        -o "$1/requirements-scale.lock"
}

if grep -nE 'https?://' requirements.lock requirements-scale.lock requirements-dev.lock; then
    echo "A lock file names a host; it must not." >&2
    exit 1
fi
if [ "${1:-}" != --check ]; then
    lock .
    exit 0
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp requirements.lock requirements-scale.lock requirements-dev.lock "$folder"
if ! lock "$folder" 2>"$folder/why" >/dev/null; then
    echo "lock check skipped, the package index did not answer: $(tail -n 1 "$folder/why")" >&2
    exit 0
fi
for name in requirements.lock requirements-scale.lock requirements-dev.lock; do
    if ! diff -q "$name" "$folder/$name" >/dev/null; then
        echo "$name is not what pyproject.toml asks for: run make lock." >&2
        exit 1
    fi
done
