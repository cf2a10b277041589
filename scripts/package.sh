#!/bin/sh
# Packs a program for users without root, network or Rust, and for package managers:
#
#   scripts/package.sh PROGRAM OUT [--without deb|rpm]...
#
#   OUT/ioproof-VERSION-MACHINE-linux.tar.gz    runs in any directory
#   OUT/ioproof_VERSION_ARCH.deb                below /usr
#   OUT/ioproof-VERSION-1.MACHINE.rpm           below /usr
#
# All three have the same files: the program, man pages, completions, studies, documentation, licences, and the names of
# the tools whose command lines the program accepts, as links in lib/ioproof/bin, which nobody has on the path unasked. The deb
# has `copyright`, too. The same program and commit give the same bytes.
#
# It needs no network if crates and zig, whose licences it packs, are there: after `cargo fetch` and scripts/program.sh.
set -eu
wrong() {
    printf 'error: %s\n  run: scripts/package.sh PROGRAM OUT [--without deb|rpm]...\n' "$1" >&2
    exit 2
}
[ $# -ge 2 ] || wrong 'no program and directory'
given=$1
directory=$2
shift 2
without=''
while [ $# -gt 0 ]; do
    case $1:${2:-} in
    --without:deb | --without:rpm) without="$without $2" ;;
    *) wrong "unknown argument or no value: $1" ;;
    esac
    shift 2
done
mkdir -p "$directory"
out=$(cd "$directory" && pwd)
program=$(realpath "$given")
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh
# shellcheck source=scripts/package/common.sh
. scripts/package/common.sh

# What the program does when it is called by these names: crates/dialect/src/lib.rs. tests/tidy compares the lists.
TOOLS='gpfsperf io500 ioping ior iozone md-workbench mdtest tsqosperf'

need readelf:binutils python3:python3
need_date
need_packers "$without"
[ -n "${CARGO:-}" ] || need_rust
need_zig
export ZIG
version=$(version)
machine=$(machine_of "$program") || die "$given is no program for x86_64 or aarch64" "build it with scripts/program.sh"
case $machine in
x86_64) architecture=amd64 ;;
aarch64) architecture=arm64 ;;
esac
# rpmbuild parts the names of its directories at spaces.
case ${TMPDIR:-} in *[[:space:]]*) unset TMPDIR ;; esac
work=$(mktemp -d)
# A group of the directory above would go down to all that is packed.
chmod 00700 "$work"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# put FILE... DIRECTORY : the files, readable by all.
put() {
    for last in "$@"; do :; done
    install -d "$last"
    while [ $# -gt 1 ]; do
        install -m 0644 "$1" "$last/"
        shift
    done
}

# stage PREFIX : all files, as they are in every package.
stage() {
    install -d "$1/bin" "$1/lib/ioproof/bin" "$1/share/man/man1"
    install -m 0755 "$program" "$1/bin/ioproof"
    for tool in $TOOLS; do
        ln -s ../../../bin/ioproof "$1/lib/ioproof/bin/$tool"
    done
    put man/*.1 "$1/share/man/man1"
    gzip -9n "$1"/share/man/man1/*.1
    put completions/ioproof.bash "$1/share/bash-completion/completions"
    mv "$1/share/bash-completion/completions/ioproof.bash" "$1/share/bash-completion/completions/ioproof"
    put completions/_ioproof "$1/share/zsh/site-functions"
    put completions/ioproof.fish "$1/share/fish/vendor_completions.d"
    put studies/*.toml "$1/share/ioproof/studies"
    put studies/models/*.toml "$1/share/ioproof/studies/models"
    put README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$1/share/doc/ioproof"
    put docs/*.md docs/*.json "$1/share/doc/ioproof/docs"
    put docs/images/* "$1/share/doc/ioproof/docs/images"
    put docs/examples/* "$1/share/doc/ioproof/docs/examples"
    find integrations -type f ! -path '*/__pycache__/*' >"$work/files"
    while read -r file; do
        put "$file" "$1/share/doc/ioproof/$(dirname "$file")"
    done <"$work/files"
    # Where the documents look for them.
    ln -s ../../ioproof/studies "$1/share/doc/ioproof/studies"
    python3 scripts/notices.py "$machine-unknown-linux-gnu" >"$1/share/doc/ioproof/THIRD-PARTY-LICENSES"
    # Files and directories, but no links, whatever the umask.
    find "$1" -type d -exec chmod 00755 {} +
    find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

say "tarball"
name=ioproof-$version-$machine-linux
stage "$work/tree/$name"
"$(pwd)/scripts/glibc.sh" "$work/tree" || exit 1
tar -C "$work/tree" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    -cf "$work/tree.tar" "$name"
gzip -9n <"$work/tree.tar" >"$out/$name.tar.gz"

mkdir "$work/staged"
mv "$work/tree/$name" "$work/staged/usr"

left_out() {
    case " $without " in *" $1 "*) ;; *) return 1 ;; esac
}

say "deb"
if left_out deb; then
    echo "left out"
else
    mkdir "$work/deb"
    cp -a "$work/staged/usr" "$work/deb/"
    mkdir "$work/deb/DEBIAN"
    # Debian's zsh looks there for what packages bring.
    mv "$work/deb/usr/share/zsh/site-functions" "$work/deb/usr/share/zsh/vendor-completions"
    {
        cat <<'END'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ioproof
Source: https://github.com/ioproof/ioproof
Comment: THIRD-PARTY-LICENSES, beside this file, has the licences of what is
 linked into the program.

Files: *
END
        sed -n 's/^Copyright (c) /Copyright: /p' LICENSE-MIT
        cat <<'END'
License: Apache-2.0 or Expat

License: Apache-2.0
 The text is in LICENSE-APACHE, beside this file, and on Debian systems in
 /usr/share/common-licenses/Apache-2.0.

License: Expat
END
        # From the permission to the end; an empty line is a dot.
        sed -n '/^Permission is/,$p' LICENSE-MIT | sed 's/^$/./; s/^/ /'
    } >"$work/deb/usr/share/doc/ioproof/copyright"
    bytes=$(find "$work/deb/usr" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
    cat >"$work/deb/DEBIAN/control" <<END
Package: ioproof
Version: $version
Architecture: $architecture
Maintainer: The ioproof authors <https://github.com/ioproof/ioproof>
Installed-Size: $((bytes / 1024))
Depends: libc6 (>= $GLIBC_OLDEST)
Suggests: openmpi-bin | mpich, openssh-client
Section: utils
Priority: optional
Homepage: https://github.com/ioproof/ioproof
Description: measures storage systems and documents the evidence
 ioproof measures what a storage system can really do: it writes and reads real
 files, records the latency of every transfer, and reports figures with their
 conditions, spread and doubts. It also accepts the command lines of IOR, mdtest,
 md-workbench, ioping, iozone, gpfsperf and IO500.
END
    (cd "$work/deb" && find usr -type f | LC_ALL=C sort | while read -r file; do md5sum "$file"; done >DEBIAN/md5sums)
    find "$work/deb" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    # Debian 11 has no zstd in dpkg. One thread, as more of them cut the data into other pieces.
    DPKG_DEB_THREADS_MAX=1 dpkg-deb --build --root-owner-group -Zxz "$work/deb" \
        "$out/ioproof_${version}_$architecture.deb"
fi

say "rpm"
if left_out rpm; then
    echo "left out"
else
    # No part of it may depend on this host: neither its name, nor the macros of its user.
    HOME=$work rpmbuild -bb --quiet --target "$machine-linux" \
        --define "_topdir $work/rpm" --define "_tmppath $work" --define "_rpmdir $work/rpms" \
        --define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
        --define "_buildhost localhost" --define "use_source_date_epoch_as_buildtime 1" \
        --define "clamp_mtime_to_source_date_epoch 1" --define "_build_id_links none" \
        --define "debug_package %{nil}" --define "__os_install_post %{nil}" \
        --define "_binary_payload w6.xzdio" --define "optflags -" \
        --define "staged $work/staged" --define "released $version" \
        scripts/package/ioproof.spec >"$work/rpm.log" 2>&1 || die "rpmbuild failed" "$(cat "$work/rpm.log")"
    mv "$work/rpms/ioproof-$version-1.$machine.rpm" "$out/"
fi
