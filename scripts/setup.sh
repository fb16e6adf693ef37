#!/bin/sh
# Creates .venv from a lock file; needs only Python >= 3.11 and pip. If .venv is up to date it only computes a checksum.
# usage: scripts/setup.sh [dev | extra NAME]      prints to stderr: stdout and stdin belong to the next program
set -eu
cd "$(dirname "$0")/.."

venv=.venv
log=.venv/setup.log
kind=${1:-run}
lock=requirements.lock
extra=

say() { printf '%s\n' "$*" >&2; }
case $kind in
dev) lock=requirements-dev.lock ;;
extra)
    kind=run
    extra=${2:-}
    case $extra in
    vectors | embeddings | web | mcp | scale | otel | passkeys) ;;
    *)
        say "There is no extra '$extra': name vectors, embeddings, web, mcp, scale, otel or passkeys, as in: make extras NAME=vectors"
        exit 2
        ;;
    esac
    ;;
esac

fingerprint() { { cat "$1" pyproject.toml; pwd; } | cksum; }
stamp() { printf '%s' "$venv/.installed-$1"; }
current() { [ -f "$(stamp "$1")" ] && [ "$(cat "$(stamp "$1")")" = "$(fingerprint "$2")" ]; }

# the dev set-up contains everything the program needs
there() { current dev requirements-dev.lock || current "$kind" "$lock"; }
if there && { [ -z "$extra" ] || current "$extra" "requirements-$extra.lock"; }; then exit 0; fi

fits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for name in python3.14 python3.13 python3.12 python3.11 python3 python; do
        if command -v "$name" >/dev/null 2>&1 && fits "$name"; then printf '%s' "$name"; return 0; fi
    done
    say "mnema needs Python 3.11 or newer, and none was found (looked for python3.14, 3.13, 3.12, 3.11 and python3)."
    say "Install one with your system's package manager, then run the same command again."
    return 1
}

why() {
    if grep -qiE 'no space left' "$log"; then
        say "The disk is full: free some space, then run the same command again."
    elif grep -qiE 'do not match the hashes' "$log"; then
        say "A downloaded file is not the one in $lock. Try again; if that does not help, your package mirror serves altered files."
    elif grep -qiE 'connection|resolve|timed out|retries|ssl|proxy|no matching distribution|network' "$log"; then
        say "A download failed: check the network (or pip's index and proxy settings), then run the same command again."
    else
        say "The full output is in $log; run the same command to try again."
    fi
}

step() {
    message=$1
    shift
    say "$message"
    if ! "$@" >>"$log" 2>&1 </dev/null; then
        say ""
        tail -n 15 "$log" >&2
        say ""
        why
        exit 1
    fi
}

trap 'say ""; say "Stopped half-way; run the same command to continue."; exit 130' INT TERM

set_up() {
    if ! "$venv/bin/pip" --version >/dev/null 2>&1 || ! fits "$venv/bin/python"; then
        python=$(find_python)
        if ! "$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then
            say "$python has no venv module: install it (Debian and Ubuntu: apt-get install python3-venv), then try again."
            exit 1
        fi
        rm -rf "$venv" && mkdir "$venv"
        : >"$log"
        step "[1/3] creating $venv with $("$python" --version 2>&1)" "$python" -m venv "$venv"
    else
        : >"$log"
        say "[1/3] $venv exists"
    fi
    rm -f "$venv"/.installed-*

    # the lock is complete and names each file by its hash: pip has nothing to resolve
    step "[2/3] installing $(grep -c '^[a-z]' "$lock") packages; the first time takes a minute or two" \
        $pip install --require-hashes --no-deps --no-compile -r "$lock"
    # until 0.1 the distribution had another name; both would own the command
    for old in "$venv"/lib/python*/site-packages/mnema-0.*.dist-info; do
        if [ -d "$old" ]; then step "[3/3] removing mnema 0.1" $pip uninstall -y mnema; fi
    done
    step "[3/3] installing mnema itself" $pip install --no-deps --no-build-isolation -e .
    # A start is a second faster, also where PYTHONDONTWRITEBYTECODE is set and no start would leave them for the next. pip
    # would compile all packages one after the other (25 s); of those for development the tests compile what they import.
    packages=$venv/lib
    if [ "$kind" = dev ]; then packages=; fi
    # shellcheck disable=SC2086  # no word where it is empty
    "$venv/bin/python" -m compileall -q -j 0 $packages bot channels memory >>"$log" 2>&1 || :

    fingerprint "$lock" >"$(stamp "$kind")"
}

pip="$venv/bin/python -m pip --disable-pip-version-check --no-input"
if there; then : >"$log"; else set_up; fi
if [ -n "$extra" ]; then
    lock=requirements-$extra.lock
    step "installing the packages of $extra" $pip install --require-hashes -r "$lock"
    fingerprint "$lock" >"$(stamp "$extra")"
    say "$extra is installed in $venv; restart mnema to use it."
fi
