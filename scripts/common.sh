# Functions that quickstart, check and benches/compare share. Sourced with the clone as the
# working directory; POSIX sh. Nothing outside the clone is changed, except that packages are
# installed with apt-get when something is missing.
# shellcheck shell=sh

# Tools of the system administrator are not on the path of an ordinary user of Debian.
PATH="$PATH:/usr/sbin:/sbin"
export PATH

say() {
    printf '\n== %s\n' "$*"
}

# die WHAT [NEXT STEP...]
die() {
    printf '\nerror: %s\n' "$1" >&2
    shift
    for line in "$@"; do
        printf '  %s\n' "$line" >&2
    done
    exit 1
}

is_root() {
    [ "$(id -u)" -eq 0 ]
}

# Runs a command as root.
as_root() {
    if is_root; then
        "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo "$@"
    else
        die "root is needed for: $*" "run this script as root, or install sudo"
    fi
}

apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}

APT_UPDATED=no

# Fetches the lists of packages, once.
apt_update() {
    if [ "$APT_UPDATED" = no ]; then
        APT_UPDATED=yes
        # Lists from before may be enough; when they are not, the installation says so.
        apt_get update || printf 'warning: the lists of packages could not be fetched\n' >&2
    fi
}

# install_packages PACKAGE... : installs packages of Debian.
install_packages() {
    command -v apt-get >/dev/null 2>&1 || die "these are missing and this is no Debian: $*" \
        "install them with the package manager of this system and run this script again"
    say "installing $*"
    apt_update
    apt_get install "$@" || die "apt-get could not install: $*" \
        "look at its message above; is there a network, and are the sources of Debian enabled?"
}

# need TOOL:PACKAGE... : installs the packages whose tool is not on the path.
need() {
    missing=''
    for pair in "$@"; do
        if ! command -v "${pair%%:*}" >/dev/null 2>&1; then
            missing="$missing ${pair#*:}"
        fi
    done
    # shellcheck disable=SC2086 # several packages
    [ -z "$missing" ] || install_packages $missing
}

# at_least WANTED VERSION : whether VERSION is WANTED or later.
at_least() {
    printf '%s\n%s\n' "$1" "$2" | sort -V -C
}

# rust_version CARGO : the version of the Rust that this cargo belongs to; empty when it does not run.
rust_version() {
    "$1" --version 2>/dev/null | sed -n 's/^cargo \([0-9.]*\).*/\1/p'
}

# Sets CARGO to the first cargo that is new enough.
find_cargo() {
    for candidate in "${CARGO:-}" "$(command -v cargo || true)" "${HOME:-/}/.cargo/bin/cargo" /usr/bin/cargo; do
        if [ -n "$candidate" ] && [ -x "$candidate" ]; then
            found=$(rust_version "$candidate")
            if [ -n "$found" ] && at_least "$RUST_NEEDED" "$found"; then
                CARGO=$candidate
                return 0
            fi
        fi
    done
    return 1
}

# candidate PACKAGE : the version that apt-get would install.
candidate() {
    apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: \([0-9][0-9.]*\).*/\1/p'
}

# Installs Debian's own Rust, which its security updates keep new for the web browsers.
install_rust() {
    advice='or install Rust from https://rustup.rs (then: rustup update stable) and run this script again'
    command -v apt-get >/dev/null 2>&1 || die "Rust $RUST_NEEDED or later is needed" "$advice"
    offered=$(candidate cargo-web)
    if [ -z "$offered" ] || ! at_least "$RUST_NEEDED" "$offered"; then
        apt_update
        offered=$(candidate cargo-web)
    fi
    if [ -z "$offered" ] || ! at_least "$RUST_NEEDED" "$offered"; then
        die "Rust $RUST_NEEDED or later is needed; apt-get offers cargo-web ${offered:-in no version}" \
            "enable the security updates of Debian 12 (suite bookworm-security), $advice"
    fi
    removed=$(apt-get -s --no-install-recommends install rustc-web cargo-web 2>/dev/null |
        sed -n 's/^Remv \([^ ]*\).*/\1/p' | tr '\n' ' ')
    if [ -n "$removed" ] && [ "${IOPROOF_REPLACE_RUST:-}" != 1 ]; then
        die "Rust $RUST_NEEDED or later is needed; Debian's rustc-web and cargo-web would replace: $removed" \
            "to allow that: IOPROOF_REPLACE_RUST=1 $0" "$advice"
    fi
    install_packages rustc-web cargo-web ca-certificates
}

# Sets CARGO, and puts its directory first on the path, since cargo finds rustc there.
need_rust() {
    RUST_NEEDED=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    if ! find_cargo; then
        install_rust
        find_cargo || die "Rust was installed, but cargo $RUST_NEEDED or later does not run" \
            "try: /usr/bin/cargo --version"
    fi
    PATH="$(dirname "$CARGO"):$PATH"
    export PATH CARGO
    # The linker, and the C library to link with.
    need cc:gcc
    need_file /usr/include/stdlib.h libc6-dev
    say "using $("$CARGO" --version)"
}

# The release of cargo-deny that deny.toml is written for.
CARGO_DENY_VERSION=0.20.2

# Sets CARGO_DENY; builds it below the target directory when it is not on the path, which takes minutes, once.
need_cargo_deny() {
    tools=${CARGO_TARGET_DIR:-target}/tools
    CARGO_DENY=$(command -v cargo-deny || true)
    [ -n "$CARGO_DENY" ] || CARGO_DENY=$tools/bin/cargo-deny
    if [ ! -x "$CARGO_DENY" ]; then
        say "building cargo-deny"
        "$CARGO" install --quiet --locked --root "$tools" --target-dir "$tools/target" \
            --version "$CARGO_DENY_VERSION" cargo-deny || return 1
        rm -rf "$tools/target"
    fi
}

# cargo_deny ARGUMENTS... : as `cargo deny`.
cargo_deny() {
    "$CARGO_DENY" deny "$@"
}

# need_file FILE PACKAGE : installs the package when the file is not there.
need_file() {
    [ -e "$1" ] || install_packages "$2"
}
