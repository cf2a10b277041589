#!/bin/sh
# Tests what needs another kernel: arrays of md, Intel's among them, volumes of LVM, PCI devices of
# NVMe and a server of NFS, in a virtual machine. Debian's stock kernel runs under QEMU, on the files of this host,
# which it cannot change. Everything is emulated, so that it runs wherever QEMU does.
#
#   scripts/virtual-machine.sh [FILTER...]     # names of tests, as for cargo test
#
# QEMU is installed when it is missing. The kernel, and the tools that this host lacks, are fetched
# and unpacked below the directory of builds, or into IOPROOF_VIRTUAL_MACHINE; none of them is
# installed, and no daemon starts.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

# make_depends FILE MODULE... : the files of these modules and of those that they need.
with_needed() {
    dependencies=$1
    shift
    for module in "$@"; do
        sed -n "s|^\(kernel/[^:]*/$module\.ko\): *\(.*\)|\1 \2|p" "$dependencies" | tr ' ' '\n'
    done | sed '/^$/d' | sort -u
}

# fetch DIRECTORY : the kernel and the tools, unpacked as if they were installed.
fetch() {
    apt_update
    rm -rf "$1" "$1.new"
    mkdir -p "$1.new/archives/partial"
    # Whatever is installed already is the host's, and the machine sees it.
    (
        cd "$1.new"
        apt-get -q -y --no-install-recommends --download-only -o Debug::NoLocking=1 \
            -o "Dir::Cache::archives=$PWD/archives" -o APT::Sandbox::User=root install \
            mdadm lvm2 parted nvme-cli kmod udev dmsetup nfs-kernel-server nfs-common >apt.log 2>&1 ||
            die "apt-get could not fetch the tools" "look at $PWD/apt.log"
        kernel=$(apt-cache depends linux-image-amd64 | sed -n 's/^ *Depends: \(linux-image-[^ ]*\).*/\1/p')
        cd archives
        # They are needed as files, whether or not they are installed here.
        apt-get -q download "${kernel:-linux-image-amd64}" busybox-static kmod >>../apt.log 2>&1 ||
            die "apt-get could not fetch a kernel" "look at $1.new/apt.log"
    )
    for archive in "$1.new"/archives/*.deb; do
        dpkg --extract "$archive" "$1.new/tree"
    done
    # As on the host below it, where these are links.
    for directory in bin sbin lib lib64; do
        if [ -d "$1.new/tree/$directory" ]; then
            mkdir -p "$1.new/tree/usr/$directory"
            cp -a "$1.new/tree/$directory/." "$1.new/tree/usr/$directory/"
            rm -rf "$1.new/tree/$directory"
        fi
        ln -s "usr/$directory" "$1.new/tree/$directory"
    done
    rm -rf "$1.new/archives"
    mv "$1.new/tree/boot"/vmlinuz-* "$1.new/kernel"
    # The program goes by the name that it is called by.
    ln -s tree/usr/bin/kmod "$1.new/depmod"
    "$1.new/depmod" -b "$1.new/tree" "$(ls "$1.new/tree/usr/lib/modules")"
    mv "$1.new" "$1"
}

# pack DIRECTORY : the first files of the machine, with what it takes to reach those of the host.
pack() {
    modules=usr/lib/modules/$(ls "$1/tree/usr/lib/modules")
    rm -rf "$1/first"
    mkdir -p "$1/first/bin" "$1/first/proc" "$1/first/sys" "$1/first/dev" "$1/first/usr/lib"
    ln -s usr/lib "$1/first/lib"
    cp "$1/tree/usr/bin/busybox" "$1/first/bin/"
    cp crates/testbed/guest/init "$1/first/init"
    chmod 755 "$1/first/init"
    with_needed "$1/tree/$modules/modules.dep" virtio_pci virtio_console 9pnet_virtio 9p overlay |
        while read -r module; do
            mkdir -p "$1/first/$modules/$(dirname "$module")"
            cp "$1/tree/$modules/$module" "$1/first/$modules/$module"
        done
    "$1/tree/usr/bin/busybox" depmod -b "$1/first" "$(basename "$modules")"
    (cd "$1/first" && find . | ../tree/usr/bin/busybox cpio -o -H newc 2>/dev/null | gzip -1) >"$1/initrd.new"
    mv "$1/initrd.new" "$1/initrd"
    rm -rf "$1/first"
}

case ${CARGO_TARGET_DIR:-target} in
/*) target=${CARGO_TARGET_DIR:-} ;;
*) target=$PWD/${CARGO_TARGET_DIR:-target} ;;
esac
: "${IOPROOF_VIRTUAL_MACHINE:=$target/virtual-machine}"
export IOPROOF_VIRTUAL_MACHINE

need_rust
need qemu-system-x86_64:qemu-system-x86 mkfs.xfs:xfsprogs setpriv:util-linux ip:iproute2
mkdir -p "$(dirname "$IOPROOF_VIRTUAL_MACHINE")"
[ -e "$IOPROOF_VIRTUAL_MACHINE/kernel" ] || {
    say "fetching a kernel and the tools of its machine"
    fetch "$IOPROOF_VIRTUAL_MACHINE"
}
pack "$IOPROOF_VIRTUAL_MACHINE"

say "tests in the virtual machine"
# One after the other: an emulated processor takes a whole real one.
"$CARGO" test --locked --test cli -- --ignored --test-threads=1 --show-output \
    "${@:-virtual_machine}"
