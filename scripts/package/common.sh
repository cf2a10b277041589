# What the scripts of a release share. Sourced after scripts/common.sh with the clone as the working directory; POSIX sh.
# shellcheck shell=sh
# shellcheck disable=SC2034 # used by the scripts that source this

# That of RHEL 8, Rocky Linux 8 and Debian 10.
GLIBC_OLDEST=2.28

# The release of zig whose linker and symbols of glibc are used. Another one gives other bytes. The bill of materials has
# all four: SHA-256 of the sources (zig-VERSION.tar.xz), and the releases of LLVM and glibc whose parts zig links in.
ZIG_VERSION=0.13.0
ZIG_SOURCES=06c73596beeccb71cc073805bdb9c0e05764128f16478fa53bf17dfabc1d4318
ZIG_LLVM=18.1.6
ZIG_GLIBC=2.39

# Files and directories have the same modes, whoever makes the release.
umask 022

# The version of the program.
version() {
    sed -n '/^\[workspace.package\]$/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml
}

# need_triple TRIPLE : ends the script if no release is made for it.
need_triple() {
    case $1 in
    x86_64-unknown-linux-gnu | aarch64-unknown-linux-gnu) ;;
    *) die "no release is made for $1" "name x86_64-unknown-linux-gnu or aarch64-unknown-linux-gnu" ;;
    esac
}

# need_packers FORMATS : the tools that make the deb and the rpm, but for the formats that are left out.
need_packers() {
    for packer in deb:dpkg-deb:dpkg rpm:rpmbuild:rpm; do
        format=${packer%%:*}
        packer=${packer#*:}
        case " $1 " in *" $format "*) continue ;; esac
        command -v "${packer%%:*}" >/dev/null 2>&1 || command -v apt-get >/dev/null 2>&1 ||
            die "the $format needs ${packer%%:*}, which is not here" "install it, or make no $format: --without $format"
        need "$packer"
    done
}

# Sets and exports SOURCE_DATE_EPOCH, the date of everything in a release: that of the commit.
need_date() {
    [ -n "${SOURCE_DATE_EPOCH:-}" ] || SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null) ||
        die "the date of the release is unknown: this is no clone of git" \
            "set it in seconds since 1970: SOURCE_DATE_EPOCH=1790000000 $0"
    export SOURCE_DATE_EPOCH
}

# Sets ZIG, unless it is the right one already; installs it from PyPI below the target directory when it is not there.
need_zig() {
    [ "$("${ZIG:-false}" version 2>/dev/null)" != "$ZIG_VERSION" ] || return 0
    zig=${CARGO_TARGET_DIR:-target}/tools/zig-$ZIG_VERSION
    if [ ! -x "$zig/ziglang/zig" ]; then
        need pip3:python3-pip
        say "installing zig $ZIG_VERSION below $zig"
        pip3 install --quiet --disable-pip-version-check --no-compile --no-deps --target "$zig" \
            "ziglang==$ZIG_VERSION" || die "ziglang $ZIG_VERSION cannot be installed from PyPI" \
            "look at the message of pip above; on a machine with network: pip3 install --target $zig ziglang==$ZIG_VERSION"
    fi
    ZIG=$(realpath "$zig/ziglang/zig")
}

# tool_for MACHINE TOOL : TOOL:PACKAGE of binutils that understands programs of this machine.
tool_for() {
    if [ "$1" = "$(uname -m)" ]; then
        printf '%s:binutils\n' "$2"
    else
        printf '%s-linux-gnu-%s:binutils-%s-linux-gnu\n' "$1" "$2" "$(printf '%s' "$1" | tr _ -)"
    fi
}

# machine_of PROGRAM : the machine that an ELF file is for, as uname says it.
machine_of() {
    case $(LC_ALL=C readelf -h "$1" 2>/dev/null | sed -n 's/^ *Machine: *//p') in
    *X86-64*) echo x86_64 ;;
    AArch64) echo aarch64 ;;
    *) return 1 ;;
    esac
}
