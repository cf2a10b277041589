#!/usr/bin/env python3
"""Writes the bill of materials of the program (CycloneDX 1.5, JSON) to the standard output.

usage: scripts/sbom.py [TARGET]     TARGET is a triple of rustc; the host's unless given

It has the crates that the program is built from for the target, with their versions, licences, checksums and
dependencies (`cargo metadata` and Cargo.lock), the script in the pages of reports, Rust's standard library, and the
parts that zig links in (scripts/package/common.sh). Crates that only tests need are left out.
"""

import glob
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CARGO = os.environ.get("CARGO", "cargo")
PROGRAM = "ioproof"
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def metadata(target):
    words = [CARGO, "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    return json.loads(subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def rustc(*words):
    words = [os.environ.get("RUSTC", "rustc"), *words]
    return subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def host():
    return re.search(r"^host: (.*)$", rustc("-vV"), re.MULTILINE).group(1)


def dependencies(node):
    """The packages that `node` is built from: no dependencies of its tests."""
    kept = [one["pkg"] for one in node["deps"] if any(kind["kind"] != "dev" for kind in one["dep_kinds"])]
    return sorted(set(kept))


def reached(root, nodes):
    found, open_ = set(), [root]
    while open_:
        one = open_.pop()
        if one not in found:
            found.add(one)
            open_ += dependencies(nodes[one])
    return found


def reference(package):
    """The package URL (https://github.com/package-url/purl-spec), which is also the id of the component."""
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, checksums):
    out = {
        "type": "application" if package["name"] == PROGRAM else "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "purl": reference(package),
    }
    if package.get("description"):
        out["description"] = " ".join(package["description"].split())
    if package.get("license"):
        # An old way to write OR.
        out["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        out["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package.get("repository"):
        out["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return out


def plotly():
    """The script in the pages of reports, which is of the registry of npm: crates/report/third-party/README.md."""
    (path,) = glob.glob(os.path.join(ROOT, "crates/report/third-party/plotly-cartesian-*.min.js.gz"))
    name, version = "plotly.js-cartesian-dist-min", re.search(r"cartesian-(.*)\.min", path).group(1)
    with gzip.open(path) as file:
        content = hashlib.sha256(file.read()).hexdigest()
    return {
        "type": "library",
        "bom-ref": f"pkg:npm/{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:npm/{name}@{version}",
        "licenses": [{"license": {"id": "MIT"}}],
        "hashes": [{"alg": "SHA-256", "content": content}],
    }


def rust_libraries(target):
    """The static libraries of Rust, by the names of their crates."""
    directory = rustc("--print", "target-libdir", "--target", target)
    found = sorted(glob.glob(os.path.join(glob.escape(directory), "lib*.rlib")))
    libraries = {os.path.basename(path)[3:].rsplit("-", 1)[0]: path for path in found}
    if "std" not in libraries:
        sys.exit(f"sbom.py: Rust's standard library for {target} is not here; run: rustup target add {target}")
    return libraries


def crates_of_rust(target):
    """Name and version of each crate that the standard library is built from, where Rust's own build names it."""
    for library, path in rust_libraries(target).items():
        with open(path, "rb") as file:
            name = library.replace("_", "[-_]").encode()
            version = re.search(rb"/rust/deps/(%s)-(\d+\.\d+\.\d+)/" % name, file.read())
        # These two are of the crates `test` and `proc_macro`, which no program has.
        if version and library not in ("getopts", "rustc_literal_escaper"):
            yield version.group(1).decode(), version.group(2).decode()


def rust(target):
    """Rust's standard library. The checksum is that of the library `std`, as it is linked."""
    version = re.search(r"^release: (.*)$", rustc("-vV"), re.MULTILINE).group(1)
    with open(rust_libraries(target)["std"], "rb") as file:
        content = hashlib.sha256(file.read()).hexdigest()
    parts = [(name, version, f"pkg:cargo/{name}@{version}") for name, version in crates_of_rust(target)]
    return {
        "type": "library",
        "bom-ref": f"pkg:github/rust-lang/rust@{version}",
        "name": "rust-std",
        "version": version,
        "purl": f"pkg:github/rust-lang/rust@{version}",
        "description": "Rust's standard library, with the crates that it is built from",
        "licenses": [{"expression": "Apache-2.0 OR MIT"}],
        "hashes": [{"alg": "SHA-256", "content": content}],
        "components": [
            {"type": "library", "name": name, "version": version, "purl": purl} for name, version, purl in parts
        ],
    }


def setting(name):
    """A value of scripts/package/common.sh."""
    with open(os.path.join(ROOT, "scripts/package/common.sh"), encoding="utf-8") as file:
        return re.search(rf"^{name}=(.*)$", file.read(), re.MULTILINE).group(1)


def zig():
    """What zig links in: its compiler-rt, libunwind of LLVM, and the start of a program of glibc. The checksum is that
    of the release's sources, which have all three."""
    version, llvm = setting("ZIG_VERSION"), setting("ZIG_LLVM")
    return {
        "type": "library",
        "bom-ref": f"pkg:github/ziglang/zig@{version}",
        "name": "zig",
        "version": version,
        "purl": f"pkg:github/ziglang/zig@{version}",
        "description": "compiler-rt of zig, and the parts of LLVM and glibc that zig links in",
        "licenses": [{"license": {"id": "MIT"}}],
        "hashes": [{"alg": "SHA-256", "content": setting("ZIG_SOURCES")}],
        "externalReferences": [
            {"type": "distribution", "url": f"https://ziglang.org/download/{version}/zig-{version}.tar.xz"}
        ],
        "components": [
            {
                "type": "library",
                "name": "libunwind",
                "version": llvm,
                "purl": f"pkg:github/llvm/llvm-project@llvmorg-{llvm}#libunwind",
                "licenses": [{"expression": "Apache-2.0 WITH LLVM-exception"}],
            },
            {
                "type": "library",
                "name": "glibc-start",
                "version": setting("ZIG_GLIBC"),
                "description": "the start of a program, and functions of libc_nonshared.a; not the rest of glibc",
                "licenses": [{"license": {"name": "LGPL-2.1-or-later, with permission to link without restriction"}}],
            },
        ],
    }


def bill(target):
    data = metadata(target)
    with open(os.path.join(ROOT, "Cargo.lock"), "rb") as file:
        locked = tomllib.load(file)["package"]
    checksums = {(one["name"], one["version"]): one.get("checksum") for one in locked}
    packages = {one["id"]: one for one in data["packages"]}
    nodes = {one["id"]: one for one in data["resolve"]["nodes"]}
    root = next(id for id, one in packages.items() if one["name"] == PROGRAM)
    used = sorted(reached(root, nodes), key=lambda id: reference(packages[id]))
    foreign = {packages[id]["source"] for id in used} - {None, REGISTRY}
    if foreign:
        sys.exit(f"sbom.py: these sources have no package URL of type cargo: {sorted(foreign)}")
    script = plotly()
    linked = [rust(target), zig()]
    components = [component(packages[id], checksums) for id in used if id != root] + [script, *linked]
    graph = [
        {
            "ref": reference(packages[id]),
            "dependsOn": [reference(packages[one]) for one in dependencies(nodes[id])],
        }
        for id in used
    ]
    by_name = {packages[id]["name"]: one for id, one in zip(used, graph)}
    by_name["ioproof-report"]["dependsOn"].append(script["bom-ref"])
    by_name[PROGRAM]["dependsOn"] += [one["bom-ref"] for one in linked]
    graph += [{"ref": one["bom-ref"], "dependsOn": []} for one in [script, *linked]]
    # The same sources have the same number.
    content = json.dumps([target, components, graph], sort_keys=True)
    number = uuid.uuid5(uuid.NAMESPACE_URL, content)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {
            "component": component(packages[root], checksums),
            "properties": [{"name": "target", "value": target}],
        },
        "components": components,
        "dependencies": graph,
    }


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    json.dump(bill(sys.argv[1] if len(sys.argv) == 2 else host()), sys.stdout, indent=1)
    print()
