# What the scripts of a release share. Sourced after scripts/common.sh with the clone as the working directory; POSIX sh.
# shellcheck shell=sh
# shellcheck disable=SC2034 # used by the scripts that source this

# That of RHEL 8, Rocky Linux 8 and Debian 10.
GLIBC_OLDEST=2.28

# The release of zig whose linker and symbols of glibc are used. Another one gives other bytes.
ZIG_VERSION=0.13.0

# Files and directories have the same modes, whoever makes the release.
umask 022

# The version of the program.
version() {
    sed -n '/^\[workspace.package\]$/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml
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
