#!/usr/bin/env python3
"""Writes the licences of everything that is linked into the program to the standard output.

usage: scripts/notices.py [TARGET]     TARGET is a triple of rustc; the host's unless given

The crates are those of the bill of materials (scripts/sbom.py); the texts are the licence files in their packages.
"""

import os
import sys

import sbom

NAMES = ("LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
RUST = """Rust's standard library and its dependencies: Apache-2.0 OR MIT (https://www.rust-lang.org/policies/licenses);
libunwind of LLVM: Apache-2.0 WITH LLVM-exception (https://llvm.org/LICENSE.txt). Both are linked in.
"""
MAX = 256 * 1024


def texts(directory):
    """The licence files of a package, with equal white space, so that equal ones are printed once."""
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if name.upper().startswith(NAMES) and os.path.isfile(path) and os.path.getsize(path) <= MAX:
            with open(path, encoding="utf-8", errors="replace") as file:
                yield "\n".join(line.rstrip() for line in file.read().strip().splitlines())


def notices(target):
    data = sbom.metadata(target)
    packages = {one["id"]: one for one in data["packages"]}
    nodes = {one["id"]: one for one in data["resolve"]["nodes"]}
    root = next(id for id, one in packages.items() if one["name"] == sbom.PROGRAM)
    foreign = [packages[id] for id in sbom.reached(root, nodes) if packages[id]["source"]]
    users, without = {}, []
    for one in sorted(foreign, key=lambda one: (one["name"], one["version"])):
        name = f"{one['name']} {one['version']} ({one['license']})"
        found = list(texts(os.path.dirname(one["manifest_path"])))
        for text in found:
            users.setdefault(text, []).append(name)
        if not found:
            without.append(f"{name}; {one['repository']}")
    script = sbom.plotly()
    for text in texts(os.path.join(sbom.ROOT, "crates/report/third-party")):
        users.setdefault(text, []).append(f"{script['name']} {script['version']} (MIT), in the pages of reports")
    yield "Licences of what ioproof is built from, besides its own.\n"
    yield RUST
    if without:
        yield "Packages without a licence file:\n" + "".join(f"  {one}\n" for one in without)
    for text, names in sorted(users.items(), key=lambda one: one[1]):
        yield "=" * 80 + "\n" + "".join(f"{name}\n" for name in names) + "-" * 80 + "\n" + text + "\n"


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    sys.stdout.reconfigure(encoding="utf-8")
    print("\n".join(notices(sys.argv[1] if len(sys.argv) == 2 else sbom.host())), end="")
