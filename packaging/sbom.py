"""The software bill of materials: every crate that is part of the program, as CycloneDX 1.6."""

import json
import subprocess
import uuid

from program import ROOT, Program


def make(program: Program) -> bytes:
    metadata = json.loads(
        subprocess.run(
            ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", program.target],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout
    )
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    start = next(id for id, package in packages.items() if package["name"] == "probity")
    linked = reachable(start, nodes)
    references = {id: reference(packages[id]) for id in linked}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        # The same program has the same number.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, ' '.join(sorted(references.values())))}",
        "version": 1,
        "metadata": {"component": component(packages[start], references[start], "application")},
        "components": [
            component(packages[id], references[id], "library")
            for id in sorted(linked, key=references.get) if id != start
        ],
        "dependencies": [
            {
                "ref": references[id],
                "dependsOn": sorted(references[other] for other in links(nodes[id])),
            }
            for id in sorted(linked, key=references.get)
        ],
    }
    return (json.dumps(document, indent=1) + "\n").encode()


def links(node: dict) -> list[str]:
    """What becomes part of the program: neither build scripts' needs nor the tests'."""
    return [
        dependency["pkg"] for dependency in node["deps"]
        if any(kind["kind"] is None for kind in dependency["dep_kinds"])
    ]


def reachable(start: str, nodes: dict[str, dict]) -> set[str]:
    seen, waiting = {start}, [start]
    while waiting:
        for other in links(nodes[waiting.pop()]):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def reference(package: dict) -> str:
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package: dict, ref: str, kind: str) -> dict:
    shown = {"type": kind, "bom-ref": ref, "name": package["name"], "version": package["version"], "purl": ref}
    if package.get("license"):
        shown["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    return shown
