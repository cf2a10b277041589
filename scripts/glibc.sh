#!/bin/sh
# Says of each ELF file which glibc it needs, and fails if that is newer than 2.28, the one of RHEL 8.
#
#   scripts/glibc.sh FILE|DIRECTORY...
#
# A directory is searched; so is the content of a .tar.gz, .deb, .rpm or .whl, also of those in a directory. ELF files
# without dynamic symbols, as ioproof.debug and static programs, are named and skipped.
set -eu
[ $# -gt 0 ] || { printf 'error: no file to look at\n  run: scripts/glibc.sh FILE|DIRECTORY...\n' >&2 && exit 2; }
started_in=$(pwd)
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh
# shellcheck source=scripts/package/common.sh
. scripts/package/common.sh
need objdump:binutils

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
looked=0
wrong=''

# look FILE NAME : adds to `looked` and `wrong` if it is an ELF file.
look() {
    [ "$(head -c 4 "$1" | od -An -tx1 | tr -d ' ')" = 7f454c46 ] || return 0
    if ! LC_ALL=C readelf --sections --wide "$1" 2>/dev/null | grep -q ' DYNSYM '; then
        echo "skipped: $2 has no dynamic symbols"
        return 0
    fi
    machine=$(machine_of "$1") || die "the machine of $2 is unknown" "look at it: readelf -h $2"
    objdump=$(tool_for "$machine" objdump)
    need "$objdump"
    LC_ALL=C "${objdump%%:*}" -T "$1" >"$work/symbols" 2>"$work/errors" || die "objdump cannot read $2" "$(cat "$work/errors")"
    newest=$(sed -n 's/.*[ (]GLIBC_\([0-9][0-9.]*\).*/\1/p' "$work/symbols" | sort -uV | tail -n 1)
    [ -n "$newest" ] || die "$2 names no version of glibc" "only programs that are linked to glibc belong into a release"
    looked=$((looked + 1))
    echo "$2: needs GLIBC_$newest"
    at_least "$newest" "$GLIBC_OLDEST" || wrong="$wrong $2"
}

# look_into FILE NAME : the same for each file in a package.
look_into() {
    rm -rf "$work/content"
    mkdir "$work/content"
    case $1 in
    *.tar.gz) tar -xzf "$1" -C "$work/content" ;;
    *.deb)
        need dpkg-deb:dpkg
        dpkg-deb --extract "$1" "$work/content"
        ;;
    *.rpm)
        need rpm2cpio:rpm2cpio cpio:cpio
        rpm2cpio "$1" >"$work/cpio"
        (cd "$work/content" && cpio --quiet -id <"$work/cpio")
        ;;
    *.whl)
        need python3:python3
        python3 -m zipfile --extract "$1" "$work/content"
        ;;
    esac
    find "$work/content" -type f >"$work/inner"
    while read -r inner; do
        look "$inner" "$2${inner#"$work/content"}"
    done <"$work/inner"
}

for given in "$@"; do
    case $given in /*) path=$given ;; *) path=$started_in/$given ;; esac
    [ -e "$path" ] || die "there is no file or directory $given" "check the path"
    # -H: a link that is given is followed. Those in a directory are not, as they lead to a file that is there, too.
    find -H "$path" -type f >"$work/files"
    while read -r file; do
        case $file in
        *.tar.gz | *.deb | *.rpm | *.whl) look_into "$file" "$given${file#"$path"}" ;;
        *) look "$file" "$given${file#"$path"}" ;;
        esac
    done <"$work/files"
done
[ "$looked" -gt 0 ] || die "there is no ELF file with dynamic symbols in: $*" "name the program, a package, or a directory that has it"
[ -z "$wrong" ] || die "newer than glibc $GLIBC_OLDEST:$wrong" "build it with scripts/program.sh"
