#!/usr/bin/env python3
"""Writes the bill of materials of the program (CycloneDX 1.5, JSON) to the standard output.

usage: scripts/sbom.py [TARGET]     TARGET is a triple of rustc; the host's unless given

Everything comes from `cargo metadata` and Cargo.lock: crates that the program is built from for the target, with their
versions, licences, checksums and dependencies, and the script in the pages of reports. Crates that only tests need are
left out.
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


def host():
    words = [os.environ.get("RUSTC", "rustc"), "-vV"]
    printed = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.search(r"^host: (.*)$", printed, re.MULTILINE).group(1)


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
    components = [component(packages[id], checksums) for id in used if id != root] + [script]
    graph = [
        {
            "ref": reference(packages[id]),
            "dependsOn": [reference(packages[one]) for one in dependencies(nodes[id])],
        }
        for id in used
    ]
    by_name = {packages[id]["name"]: one for id, one in zip(used, graph)}
    by_name["ioproof-report"]["dependsOn"].append(script["bom-ref"])
    graph.append({"ref": script["bom-ref"], "dependsOn": []})
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
