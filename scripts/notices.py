#!/usr/bin/env python3
"""Writes the licences of everything that is linked into the program to the standard output.

usage: scripts/notices.py [TARGET]     TARGET is a triple of rustc; the host's unless given

What there is, is in the bill of materials (scripts/sbom.py). The texts are the licence files in the packages of crates,
in Rust's distribution, if it has them, and in zig's, which is the directory of the program ZIG.
"""

import html
import os
import re
import sys

import sbom

NAMES = ("LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
MAX = 256 * 1024


def plain(text):
    """The text with equal white space, so that equal ones are printed once."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def contents(*parts):
    with open(os.path.join(*parts), encoding="utf-8", errors="replace") as file:
        return file.read()


def texts(directory):
    """The licence files of a package."""
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if name.upper().startswith(NAMES) and os.path.isfile(path) and os.path.getsize(path) <= MAX:
            yield plain(contents(path))


def rust(target):
    """What Rust's standard library is built from, each with the texts that Rust's distribution has of it."""
    directory = os.path.join(sbom.rustc("--print", "sysroot"), "share/doc/rust")
    path = os.path.join(directory, "COPYRIGHT-library.html")
    own, *parts = re.split(r"<h3>", contents(path)) if os.path.exists(path) else [""]
    # The files of Rust itself, in a page, and the licences that are named there.
    in_tree = html.unescape(re.sub(r"<[^>]*>", "", own.partition('<h2 id="in-tree-files">')[2].partition("<h2")[0]))
    found = []
    if in_tree:
        found.append(re.sub(r"\n\s*\n", "\n", plain(in_tree)))
        for name in sorted(os.listdir(os.path.join(directory, "licenses"))):
            if name.removesuffix(".txt") in re.findall(r"[\w.-]+", in_tree):
                found.append(plain(contents(directory, "licenses", name)))
    version = sbom.rust(target)["version"]
    yield f"Rust's standard library {version} (Apache-2.0 OR MIT)", found, "https://www.rust-lang.org/policies/licenses"
    sections = {part.partition("</h3>")[0].split()[-1]: part for part in parts}
    for name, version in sbom.crates_of_rust(target):
        section = sections.get(f"{name}-{version}", "")
        licence = re.search(r"License:</b> (.*?)</p>", section)
        of = f" ({licence.group(1)})" if licence else ""
        found = [plain(html.unescape(text)) for text in re.findall(r"<pre>(.*?)</pre>", section, re.DOTALL)]
        yield f"{name} {version}{of}, in Rust's standard library", found, f"https://crates.io/crates/{name}/{version}"


def zig():
    """What zig links into each program."""
    if not os.environ.get("ZIG"):
        sys.exit("notices.py: ZIG must name the program zig, beside which its licences are; scripts/package.sh sets it")
    directory, release = os.path.dirname(os.path.realpath(os.environ["ZIG"])), sbom.zig()
    unwind, start = release["components"]
    of_start = re.match(r"/\*(.*?)\*/", contents(directory, "lib/libc/glibc/csu/elf-init-2.33.c"), re.DOTALL).group(1)
    yield f"compiler-rt of zig {release['version']} (MIT)", contents(directory, "LICENSE")
    of_unwind = contents(directory, "lib/libunwind/LICENSE.TXT")
    yield f"libunwind of LLVM {unwind['version']} (Apache-2.0 WITH LLVM-exception)", of_unwind
    yield f"start of a program, of glibc {start['version']} ({start['licenses'][0]['license']['name']})", of_start


def notices(target):
    data = sbom.metadata(target)
    packages = {one["id"]: one for one in data["packages"]}
    nodes = {one["id"]: one for one in data["resolve"]["nodes"]}
    root = next(id for id, one in packages.items() if one["name"] == sbom.PROGRAM)
    foreign = [packages[id] for id in sbom.reached(root, nodes) if packages[id]["source"]]
    users, without = {}, []

    def add(name, found, address):
        for text in found:
            users.setdefault(text, []).append(name)
        if not found:
            without.append(f"{name}; {address}")

    for one in sorted(foreign, key=lambda one: (one["name"], one["version"])):
        name = f"{one['name']} {one['version']} ({one['license']})"
        add(name, list(texts(os.path.dirname(one["manifest_path"]))), one["repository"])
    script = sbom.plotly()
    for text in texts(os.path.join(sbom.ROOT, "crates/report/third-party")):
        users.setdefault(text, []).append(f"{script['name']} {script['version']} (MIT), in the pages of reports")
    for name, found, address in rust(target):
        add(name, found, address)
    for name, text in zig():
        users.setdefault(plain(text), []).append(name)
    yield "Licences of what ioproof is built from, besides its own.\n"
    if without:
        yield "Packages without a licence file:\n" + "".join(f"  {one}\n" for one in without)
    for text, names in sorted(users.items(), key=lambda one: one[1]):
        yield "=" * 80 + "\n" + "".join(f"{name}\n" for name in names) + "-" * 80 + "\n" + text + "\n"


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    sys.stdout.reconfigure(encoding="utf-8")
    print("\n".join(notices(sys.argv[1] if len(sys.argv) == 2 else sbom.host())), end="")
