#!/usr/bin/env python3
"""Makes the Python wheel: the program, and the package in python/ that reads its records.

usage: scripts/wheel.py PROGRAM OUT [--any-glibc]     PROGRAM is of scripts/release.sh; OUT is a directory

The same program and sources make the same bytes. The time of all entries is SOURCE_DATE_EPOCH, or 1980. The wheel is
for glibc 2.28 and later; a program that needs a later one is refused, or with --any-glibc the wheel is for that one.
"""

import argparse
import base64
import hashlib
import os
import platform
import re
import struct
import subprocess
import sys
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "ioproof"
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]
GLIBC = 28
# e_machine of the ELF header, as platform tags call it.
MACHINES = {62: "x86_64", 183: "aarch64"}
# The first time that an archive can have.
EARLIEST = 315532800


def fail(message):
    sys.exit(f"wheel.py: {message}")


def toml(path):
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


def read(path):
    """The bytes of the program, and the machine that it is for."""
    try:
        program = Path(path).read_bytes()
    except OSError as error:
        fail(f"{path} cannot be read: {error}; name the program that scripts/release.sh makes")
    if program[:6] != b"\x7fELF\x02\x01":
        fail(f"{path} is no 64-bit little-endian ELF program")
    (machine,) = struct.unpack_from("<H", program, 18)
    if machine not in MACHINES:
        fail(f"{path} is for machine {machine} of ELF, which has no platform tag here; add it to MACHINES")
    return program, MACHINES[machine]


def check(program, path, machine, version):
    """Ends the script if the program is not this version of ioproof."""
    if machine != platform.machine():
        # It may not run here, but what it says is one of its constants: src/version.rs.
        if f"{version} (commit ".encode() not in program:
            fail(f"{path} does not have the version {version} of Cargo.toml; build the program again")
        return
    try:
        said = subprocess.run([os.path.abspath(path), "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        fail(f"{path} is no program that runs here: {error}; name the one that scripts/release.sh makes")
    # What follows the release in parentheses is where it comes from.
    if said.split(" (")[0].strip() != f"ioproof {version}":
        fail(f"{path} is {said.strip()!r}, and Cargo.toml has ioproof {version}; build the program again")


def platform_tag(program, path, machine, any_glibc):
    """For the machine and the glibc that the program needs."""
    # The names of all versions that the program asks for are in its string table.
    needed = max([int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)", program)], default=0)
    if needed > GLIBC and not any_glibc:
        fail(
            f"{path} needs glibc 2.{needed}, and the wheel is for 2.{GLIBC}; "
            "build it for an older system, or say --any-glibc"
        )
    return f"manylinux_2_{max(GLIBC, needed)}_{machine}"


def metadata(project, version):
    """The core metadata (https://packaging.python.org/specifications/core-metadata)."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {name}" for name in LICENCES),
        f"Keywords: {','.join(project['keywords'])}",
        *(f"Classifier: {one}" for one in project["classifiers"]),
        f"Requires-Python: {project['requires-python']}",
    ]
    for extra, packages in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {package}; extra == '{extra}'" for package in packages]
    text = (ROOT / "docs" / "PYTHON.md").read_text(encoding="utf-8")
    # Links lead to other pages of the repository, which a wheel does not have.
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", text]).encode()


def entries(project, version, tag, program):
    """Name, bytes and mode of each file but RECORD."""
    name = f"{project['name']}-{version}"
    wheel = f"Wheel-Version: 1.0\nGenerator: ioproof\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    found = [(str(path.relative_to(PACKAGE.parent)), path.read_bytes(), 0o644) for path in files]
    found.append((f"{name}.data/scripts/ioproof", program, 0o755))
    # The rest stands last, as the format recommends.
    last = [(f"{name}.dist-info/licenses/{one}", (ROOT / one).read_bytes(), 0o644) for one in LICENCES]
    last += [
        (f"{name}.dist-info/METADATA", metadata(project, version), 0o644),
        (f"{name}.dist-info/WHEEL", wheel.encode(), 0o644),
    ]
    return sorted(found) + sorted(last)


def record(files, name):
    """The list of all files with their checksums (PEP 427)."""
    lines = []
    for path, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    path = f"{name}.dist-info/RECORD"
    return path, ("".join(lines) + f"{path},,\n").encode(), 0o644


def main():
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("program")
    usage.add_argument("out")
    usage.add_argument("--any-glibc", action="store_true")
    given = usage.parse_args()
    project = toml("python/pyproject.toml")["project"]
    version = toml("Cargo.toml")["workspace"]["package"]["version"]
    program, machine = read(given.program)
    check(program, given.program, machine, version)
    tag = platform_tag(program, given.program, machine, given.any_glibc)
    files = entries(project, version, tag, program)
    files.append(record(files, f"{project['name']}-{version}"))
    moment = time.gmtime(max(EARLIEST, int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST))))[:6]
    out = Path(given.out) / f"{project['name']}-{version}-py3-none-{tag}.whl"
    out.parent.mkdir(parents=True, exist_ok=True)
    hidden = out.with_name(f".{out.name}")
    with zipfile.ZipFile(hidden, "w") as archive:
        for path, content, mode in files:
            entry = zipfile.ZipInfo(path, moment)
            entry.create_system = 3
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    hidden.replace(out)
    print(out)


if __name__ == "__main__":
    main()
