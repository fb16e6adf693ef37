#!/bin/sh
# Fails if a locked package has a known vulnerability; skips with a message if the advisories cannot be reached.
# Arguments: lock files [requirements-dev.lock, which contains the others]. PIP_AUDIT_OSV_URL: server of the advisories.
set -eu
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ $# -gt 0 ] || set -- requirements-dev.lock
for file; do
    if .venv/bin/pip-audit --vulnerability-service osv --requirement "$file" --require-hashes --disable-pip \
        --progress-spinner off --cache-dir "$folder/cache" --format json --output "$folder/found" 2>"$folder/why"; then
        echo "$file: no known vulnerability."
    elif .venv/bin/python -m json.tool "$folder/found" "$folder/shown" 2>/dev/null; then
        grep -vE '"(vulns|skip_reason)": (\[\]|null)' "$folder/shown" >&2
        echo "$file has known vulnerabilities: raise the packages above to the fixed versions, then make lock." >&2
        exit 1
    else
        echo "audit skipped, the advisories could not be reached: $(tail -n 1 "$folder/why")" >&2
    fi
done
