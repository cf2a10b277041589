#!/bin/sh
# Tests the Python package: makes its wheel, installs it in an environment of its own, and runs python/tests there.
#
#   scripts/python-tests.sh [PROGRAM]
#
# PROGRAM is ioproof; without it IOPROOF_PROGRAM is taken, else the newest that scripts/release.sh or cargo has built. All
# is below the target directory. The environment is kept, and made again where python/requirements-test.txt has changed.
set -eu
started_in=$(pwd)
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

[ $# -le 1 ] || die "unknown arguments: $*" "run: scripts/python-tests.sh [PROGRAM]"
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/python"
out=$(realpath "$target/python")

skip() {
    echo "skipped: the Python package: $*"
    exit 0
}

program=${1:-${IOPROOF_PROGRAM:-}}
if [ -n "$program" ]; then
    case $program in /*) ;; *) program=$started_in/$program ;; esac
    { [ -f "$program" ] && [ -x "$program" ]; } || die "$program is no program" "name the path of ioproof"
else
    for built in "$target"/release-files/ioproof "$target"/release/ioproof "$target"/debug/ioproof; do
        [ ! -x "$built" ] || printf '%s %s\n' "$(stat -c %.9Y "$built")" "$built"
    done >"$out/built"
    program=$(sort -n "$out/built" | tail -n 1 | cut -d ' ' -f 2-)
    [ -n "$program" ] || die "no program is built" "run: cargo build, or scripts/python-tests.sh PROGRAM"
fi
echo "program: $program"

# 3.9 is enough for the package; its tests and scripts/wheel.py use later things.
command -v python3 >/dev/null 2>&1 || skip "it needs Python 3.11 or later"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    skip "it needs Python 3.11 or later, and this is $(python3 --version)"

venv=$out/venv
wanted=$(python3 --version; cat python/requirements-test.txt)
if [ "$(cat "$venv/wanted" 2>/dev/null)" != "$wanted" ]; then
    say "installing python/requirements-test.txt"
    rm -rf "$venv"
    python3 -m venv "$venv" >"$out/pip.log" 2>&1 || skip "it needs the module venv of Python ($out/pip.log)"
    "$venv/bin/pip" install --disable-pip-version-check --no-input --progress-bar off \
        -r python/requirements-test.txt >>"$out/pip.log" 2>&1 ||
        skip "it needs the packages of python/requirements-test.txt, which cannot be had ($out/pip.log)"
    echo "$wanted" >"$venv/wanted"
fi

say "wheel"
# Symbols make it large, and packing slow.
rm -rf "$out/wheel"
mkdir -p "$out/wheel"
strip -o "$out/wheel/ioproof" "$program" 2>/dev/null || cp "$program" "$out/wheel/ioproof"
wheel=$("$venv/bin/python" scripts/wheel.py "$out/wheel/ioproof" "$out/wheel" --any-glibc)
echo "$wheel"
"$venv/bin/pip" install --disable-pip-version-check --no-index --no-deps --force-reinstall --quiet "$wheel"

say "tests"
rm -rf "${out:?}/tmp" "${out:?}/home"
mkdir -p "$out/home"
# Nothing of the user is read, and nothing is left there or in the sources.
status=0
(
    cd python
    unset IOPROOF_PROGRAM PYTHONPATH
    export IOPROOF_CONFIG='' HOME="$out/home" MYPY_CACHE_DIR="$out/mypy" PYTHONDONTWRITEBYTECODE=1
    export PATH="$venv/bin:$PATH"
    pytest -q -p no:cacheprovider --basetemp "$out/tmp"
) || status=$?
rm -rf "${out:?}/tmp" "${out:?}/home"
exit "$status"
