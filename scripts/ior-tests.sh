#!/bin/sh
# Runs IOR's own test scripts with this program in the place of ior, mdtest and md-workbench, and counts the lines that
# passed.
#
#   scripts/ior-tests.sh SOURCES [mpich|openmpi]     SOURCES is a directory with IOR's sources; both MPI libraries
#                                                    unless one is named
#
# Of the sources only testing/basic-tests.sh and complex-tests.sh are used, with the files beside them; nothing is
# changed there. IOR's programs need not be built: where they are (SOURCES/src/ior), IOR_ITSELF=1 runs them instead.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

usage='run: scripts/ior-tests.sh SOURCES [mpich|openmpi]'
case $# in
1) libraries='mpich openmpi' ;;
2) libraries=$2 ;;
*) die "unknown arguments: $*" "$usage" ;;
esac
case $libraries in
mpich | openmpi | 'mpich openmpi') ;;
*) die "no MPI library is called $libraries here" "$usage" ;;
esac
sources=$(cd "$1" 2>/dev/null && pwd) || die "there is no directory $1" "$usage"
for script in basic-tests.sh complex-tests.sh test-lib.sh; do
    [ -f "$sources/testing/$script" ] || die "$sources has no testing/$script" \
        "name a directory with the sources of IOR (https://github.com/hpc/ior)"
done

need bash:bash python3:python3
if [ -n "${IOR_ITSELF:-}" ]; then
    [ -x "$sources/src/ior" ] || die "$sources/src/ior is not built" "leave IOR_ITSELF out, or build IOR there"
else
    need_rust
    "$CARGO" build --locked --quiet --package ioproof
    program=${CARGO_TARGET_DIR:-target}/debug/ioproof
    case $program in /*) ;; *) program=$PWD/$program ;; esac
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# The longest that one of the scripts may take; they take less than a minute.
LIMIT=600
# What the scripts print for each of their lines; some lines stand behind a note on the patterns of mdtest.
OUTCOME='^\(OK \|ERR\|Pattern differs\)'

failed=0
for library in $libraries; do
    command -v "mpiexec.$library" >/dev/null 2>&1 || die "there is no mpiexec.$library" \
        "install $library, or name the other library"
    say "IOR's own tests under $library"
    place=$scratch/$library
    mkdir -p "$place/src" "$place/bin" "$place/tmp"
    cp -R "$sources/testing" "$place/testing"
    # As it stands in some releases, the first script ends after its second line.
    sed -i '/^exit 1$/d' "$place/testing/basic-tests.sh"
    for name in ior mdtest md-workbench; do
        ln -s "${program:-$sources/src/$name}" "$place/src/$name"
    done
    printf '#!/bin/sh\nexec mpiexec.%s "$@"\n' "$library" >"$place/bin/mpiexec"
    chmod +x "$place/bin/mpiexec"
    ln -s "$(command -v python3)" "$place/bin/python"
    for script in basic complex; do
        # Open MPI refuses root unless it is told twice.
        (
            cd "$place"
            PATH=$place/bin:$PATH IOR_TMP=$place/tmp IOR_OUT=$place/out.$script \
                MDTEST_TEST_PATTERNS=$place/patterns.$script OMPI_ALLOW_RUN_AS_ROOT=1 \
                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout "$LIMIT" bash "testing/$script-tests.sh"
        ) >"$place/$script.log" 2>&1 || true
        # The number of a line is that of its output.
        grep "$OUTCOME" "$place/$script.log" | grep -n '^ERR' | while IFS=: read -r line text; do
            echo "$script-tests.sh: $text"
            sed 's/^/    /' "$place/out.$script/test_out.$((line - 1))" | tail -5
        done
    done
    if [ -z "${IOR_ITSELF:-}" ] && ! grep -q '^JSON OK' "$place/basic.log"; then
        echo "basic-tests.sh: the JSON of ior was not read by python3"
        failed=1
    fi
    asked=$(cat "$place/testing/basic-tests.sh" "$place/testing/complex-tests.sh" |
        grep -c '^\(IOR\|MDTEST\|MDWB\) ')
    passed=$(cat "$place/basic.log" "$place/complex.log" | grep "$OUTCOME" | grep -c -v '^ERR' || true)
    verdict=ok
    [ "$passed" -eq "$asked" ] || { verdict=FAILED && failed=1; }
    # In the form of the other tests, so that ./check counts it.
    echo "test result: $verdict. $passed passed; $((asked - passed)) failed (lines of IOR's own tests under $library)"
done
exit "$failed"
