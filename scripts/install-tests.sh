#!/bin/sh
# Installs the packages of a release in trees of other systems, uses them there, and removes them again:
#
#   scripts/install-tests.sh [DIRECTORY]     the directory of the packages, target/release-files unless given
#
# - Debian 11 with its Open MPI and MPICH: the tarball, used by a user without rights, and the deb
# - an empty tree: the rpm
# - the container of integrations/container, on the tree of Debian 11
# - qemu: a tarball for aarch64
#
# A package leaves no file behind: the lists before and after are compared. It needs root for chroot and for mounts, which end
# with the processes in the tree. The tree of Debian 11 is fetched once, and kept packed in target/install-tests. Without
# root it does nothing; as root it fails if nothing could be tried.
set -eu
started_in=$(pwd)
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh
# shellcheck source=scripts/package/common.sh
. scripts/package/common.sh

target=${CARGO_TARGET_DIR:-target}
case ${1:-} in
'') files=$target/release-files ;;
/*) files=$1 ;;
*) files=$started_in/$1 ;;
esac
[ -d "$files" ] || die "there is no directory $files" "make the packages: scripts/release.sh"
if ! is_root; then
    echo "skipped: trees of other systems, which need root"
    exit 0
fi
mkdir -p "$target/install-tests"
kept=$(realpath "$target/install-tests")/bullseye.tar
work=$(mktemp -d -p "$target/install-tests")
work=$(realpath "$work")
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
tree=$work/tree
tried=0
skipped=0

ok() {
    tried=$((tried + 1))
    echo "ok: $*"
}

skip() {
    skipped=$((skipped + 1))
    echo "skipped: $*"
}

# one PATTERN : the only file in the directory of this kind, or nothing.
one() {
    find "$files" -maxdepth 1 -name "$1" | sort | tail -n 1
}

# inside USER COMMAND... : in the tree, with /proc and /dev of its own. Its mounts end with it.
inside() {
    user=$1
    shift
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --pid --fork --kill-child --propagation private sh -c '
        tree=$1 user=$2
        shift 2
        mount -t proc proc "$tree/proc" && mount --rbind /dev "$tree/dev" && mount -t tmpfs tmpfs "$tree/tmp" &&
            chmod 1777 "$tree/tmp" || exit 1
        exec chroot --userspec="$user" "$tree" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home LC_ALL=C.UTF-8 "$@"
    ' inside "$tree" "$user" "$@"
}

# listed TREE : its files and directories, without what systems write on their own.
listed() {
    (cd "$1" && find . -path ./proc -prune -o -path ./dev -prune -o -print | LC_ALL=C sort)
}

# as_before NAME : that the lists of files before and after are equal.
as_before() {
    diff "$work/before" "$work/after" >"$work/differences" || die "$1 left something behind, or took it away" \
        "$(head -n 20 "$work/differences")"
}

# Sets up the tree of Debian 11; fails where it cannot be had. As a condition it does not end with the first error by itself.
debian_11() {
    if [ ! -f "$kept" ]; then
        command -v debootstrap >/dev/null 2>&1 || (install_packages debootstrap) >"$work/log" 2>&1 || return 1
        # Its mounts end with it, also if it fails.
        unshare --mount --propagation private debootstrap --variant=minbase --include=openmpi-bin,mpich bullseye "$tree" \
            >"$work/log" 2>&1 || return 1
        # Only a whole archive gets the name of the kept one.
        {
            rm -rf "$tree"/var/cache/apt/archives/*.deb "$tree"/var/lib/apt/lists/* &&
                tar -C "$tree" --numeric-owner -cf "$work/kept.tar" . && mv "$work/kept.tar" "$kept" &&
                rm -rf --one-file-system "$tree"
        } >"$work/log" 2>&1 || return 1
    fi
    # MPICH looks for the address of its host.
    {
        mkdir -p "$tree" && tar -C "$tree" --numeric-owner -xpf "$kept" && mkdir -p "$tree/home" &&
            chmod 0777 "$tree/home" && echo "127.0.0.1 localhost $(hostname)" >"$tree/etc/hosts"
    } >"$work/log" 2>&1 || die "the tree of Debian 11 cannot be unpacked" "$(tail -n 5 "$work/log")" "remove $kept if it is damaged"
}

# measured PREFIX USER : that the program below PREFIX measures and reports in the tree.
measured() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    inside "$2" sh -ec '
        prefix=$1
        cd /home
        "$prefix/bin/ioproof" --version
        "$prefix/bin/ioproof" studies >/dev/null
        mkdir -p data
        "$prefix/bin/ioproof" run --quick data --yes --out record --set repetitions=2 --set duration=300ms --set size=16MiB
        grep -qi "</html>" record/report.html
        "$prefix/lib/ioproof/bin/ior" -w -r -t 64k -b 1m -o data/one
        rm -r record
    ' measured "$1" >"$work/log" 2>&1 || die "ioproof does not work below $1 in Debian 11" "$(tail -n 20 "$work/log")"
    cp "$work/log" "$work/log.measured"
}

# ranks LAUNCHER PREFIX : that four ranks join under this launcher.
ranks() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    inside 65534:65534 sh -ec 'cd /home && $1 -n 4 "$2/lib/ioproof/bin/ior" -w -r -t 64k -b 1m -F -o data/ranks' \
        ranks "$1" "$2" >"$work/log" 2>&1 || die "four ranks do not run under $1 of Debian 11" "$(tail -n 20 "$work/log")"
    grep -q '^tasks *: *4$' "$work/log" || die "the ranks did not join under $1" "$(tail -n 20 "$work/log")"
}

say "Debian 11"
if debian_11; then
    ok "a tree of Debian $(cat "$tree/etc/debian_version") with glibc $(inside 0:0 ldd --version | sed -n '1s/.* //p')"
    tarball=$(one 'ioproof-*-x86_64-linux.tar.gz')
    if [ -n "$tarball" ]; then
        listed "$tree" >"$work/before"
        # As a user would, who may write nowhere else.
        inside 65534:65534 sh -c 'cd /home && tar -xzf -' <"$tarball"
        prefix=/home/$(basename "$tarball" .tar.gz)
        measured "$prefix" 65534:65534
        ok "tarball: a quick run and its page, and IOR by its name, as a user without rights"
        ranks 'mpirun.openmpi --oversubscribe --bind-to none' "$prefix"
        ok "tarball: four ranks under $(inside 0:0 mpirun.openmpi --version | sed -n 1p)"
        ranks mpiexec.mpich "$prefix"
        ok "tarball: four ranks under MPICH $(inside 0:0 mpiexec.mpich --version | sed -n 's/^ *Version: *//p')"
        inside 65534:65534 sh -c 'rm -r "$@"' rm "$prefix" /home/data /home/ioproof-runs
        rm -rf "$tree/home/.local" "$tree/home/.cache"
        listed "$tree" >"$work/after"
        as_before "the tarball"
        ok "tarball: removed, and nothing else is there"
    else
        skip "the tarball: there is none for x86_64 in $files"
    fi
    deb=$(one 'ioproof_*_amd64.deb')
    if [ -n "$deb" ]; then
        listed "$tree" >"$work/before"
        cp "$deb" "$tree/home/ioproof.deb"
        inside 0:0 dpkg -i /home/ioproof.deb >"$work/log" 2>&1 || die "dpkg cannot install $deb" "$(cat "$work/log")"
        # It prints what differs, and ends with 0.
        verified=$(inside 0:0 sh -c 'cd / && dpkg --verify ioproof') || die "dpkg cannot verify ioproof" "$verified"
        [ -z "$verified" ] || die "dpkg finds other files than those of $deb" "$verified"
        measured /usr 0:0
        inside 0:0 sh -c 'dpkg -P ioproof && rm -r /home/ioproof.deb /home/data /home/ioproof-runs' >"$work/log" 2>&1 ||
            die "dpkg cannot remove ioproof" "$(cat "$work/log")"
        rm -rf "$tree/home/.local" "$tree/home/.cache"
        listed "$tree" >"$work/after"
        as_before "the deb"
        ok "deb: installed, used, removed, and nothing else is there"
    else
        skip "the deb: there is none in $files"
    fi
else
    skip "Debian 11, which needs debootstrap and the packages of that release: $(tail -n 1 "$work/log")"
fi

say "rpm"
rpm=$(one 'ioproof-*.x86_64.rpm')
if [ -z "$rpm" ]; then
    skip "the rpm: there is none in $files"
elif ! command -v rpm >/dev/null 2>&1; then
    skip "the rpm, which needs rpm"
else
    empty=$work/empty
    # The directories that each system of this kind has, by its package `filesystem`.
    mkdir -p "$empty/usr/bin" "$empty/usr/lib" "$empty/usr/share/doc" "$empty/usr/share/man/man1" \
        "$empty/usr/share/bash-completion/completions" "$empty/usr/share/fish/vendor_completions.d" \
        "$empty/usr/share/zsh/site-functions"
    # A package that owns them, too, could remove them.
    shared=$(rpm -qlvp "$rpm" | grep '^d' | grep -v '/ioproof\(/\|$\)') || true
    [ -z "$shared" ] || die "the rpm owns directories of other packages" "$shared"
    rpm --root "$empty" --initdb
    # The C library is not in this tree, so what the package needs of it is shown, not looked for.
    rpm -qp --requires "$rpm" | grep -q 'GLIBC_2\.28' || die "the rpm does not require its glibc" "rpm -qp --requires $rpm"
    # Debian's rpm says with each call that it is not for this.
    on_debian=''
    [ ! -f /etc/debian_version ] || on_debian=yes
    inside_empty() {
        rpm ${on_debian:+--force-debian} --root "$empty" "$@"
    }
    listed "$empty" >"$work/before"
    inside_empty -i --nodeps "$rpm"
    inside_empty -V --nodeps ioproof || die "rpm finds other files than those of $rpm"
    "$empty/usr/lib/ioproof/bin/ior" -h >/dev/null
    "$empty/usr/bin/ioproof" --version
    inside_empty -e --nodeps ioproof
    listed "$empty" >"$work/after"
    as_before "the rpm"
    [ -z "$(find "$empty" -name '*ioproof*')" ] || die "the rpm left something: $(find "$empty" -name '*ioproof*')"
    ok "rpm: installed, verified, started, removed, and nothing else is there"
fi

say "container"
tarball=$(one 'ioproof-*-x86_64-linux.tar.gz')
if [ -z "$tarball" ] || [ ! -f "$kept" ]; then
    skip "the container, which needs the tarball and the tree of Debian 11"
elif ! command -v buildah >/dev/null 2>&1; then
    skip "the container, which needs buildah"
else
    # Storage of its own, which goes with the directory.
    built() {
        buildah --root "$work/storage" --runroot "$work/runroot" --storage-driver vfs "$@"
    }
    mkdir "$work/context"
    cp "$tarball" "$work/context/"
    {
        container=$(built from scratch) && built add -q "$container" "$kept" / &&
            built commit -q "$container" debian11 && built rm "$container" &&
            built build --isolation chroot --pull-never --build-arg BASE=localhost/debian11 -t ioproof \
                -f integrations/container/Containerfile "$work/context" &&
            container=$(built from localhost/ioproof) &&
            built run --isolation chroot "$container" -- sh -ec '
                ioproof --version
                mkdir /data
                ioproof run --quick /data --yes --out /record --set repetitions=2 --set duration=300ms --set size=16MiB
            '
    } >"$work/log" 2>&1 || die "the container cannot be built and used" "$(tail -n 20 "$work/log")"
    built rm --all >/dev/null
    ok "container: built from the tarball on Debian 11, and a quick run in it"
fi

say "aarch64"
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)
arm=$(find "$files" "$files-aarch64" -maxdepth 1 -name 'ioproof-*-aarch64-linux.tar.gz' 2>/dev/null | sort | tail -n 1)
library=/usr/aarch64-linux-gnu
if [ -z "$arm" ]; then
    skip "aarch64: no tarball; scripts/release.sh --target aarch64-unknown-linux-gnu makes it"
elif [ -z "$emulator" ] || [ ! -d "$library" ]; then
    skip "aarch64, which needs qemu-user and libc6-arm64-cross"
else
    mkdir "$work/arm"
    tar -xzf "$arm" -C "$work/arm"
    program=$(find "$work/arm" -path '*/bin/ioproof' -type f)
    mkdir "$work/arm/data"
    {
        "$emulator" -L "$library" "$program" --help &&
            (cd "$work/arm" && "$emulator" -L "$library" "$program" ior -a POSIX -w -r -t 64k -b 4m -o data/one)
    } >"$work/log" 2>&1 || die "the program for aarch64 does not work under qemu" "$(tail -n 20 "$work/log")"
    ok "aarch64: help, and a psync run of IOR's command line under qemu"
fi

printf '\n%s tried, %s skipped\n' "$tried" "$skipped"
[ "$tried" -gt 0 ] || die "nothing could be tried" "the lines above say what each part needs"
