#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""result_schema.py FILE...: validates result documents against docs/result.schema.json. Also a module for tests.

The published schema allows unknown members everywhere, because documents only grow. What this checkout writes is checked
against a closed form of it. There a member that the schema does not name is an error, so no document grows undescribed."""

import copy
import functools
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: the Python package jsonschema is missing (Debian: python3-jsonschema)")
    sys.exit(77)

SCHEMA_FILE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "result.schema.json"


def schema():
    """The published schema, itself checked."""
    loaded = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(loaded)
    return loaded


def closed(part):
    """The schema without room for members that it does not name."""
    if isinstance(part, list):
        return [closed(item) for item in part]
    if not isinstance(part, dict):
        return part
    made = {key: closed(value) for key, value in part.items()}
    if part.get("type") == "object" and "properties" in part and "additionalProperties" not in part:
        made["additionalProperties"] = False
    return made


@functools.cache
def validator(strict):
    return jsonschema.Draft202012Validator(closed(schema()) if strict else schema())


def complaints(document, strict=True):
    """What is wrong with a document, a list of lines."""
    lines = []
    for error in validator(strict).iter_errors(document):
        where = "/".join(str(step) for step in error.absolute_path) or "the document"
        lines.append(f"{where}: {error.message[:300]}")
    return lines or inner_complaints(document)


def inner_complaints(document):
    """What a schema cannot say."""
    lines = []
    points = document.get("points", [])
    for number, claim in enumerate(document.get("claims", [])):
        for index in claim.get("from", []):
            if not index < len(points):
                lines.append(f"claims/{number}/from: there is no point {index}")
    for number, point in enumerate(points):
        values = point.get("values", [])
        if values and not (point["low"] == min(values) <= point["median"] <= max(values) == point["high"]):
            lines.append(f"points/{number}: median, low and high are not those of the values")
        counts = point.get("thread_operations", {"fewest": [], "most": []})
        if len(counts["fewest"]) != len(counts["most"]) or len(counts["fewest"]) not in (0, len(values)):
            lines.append(f"points/{number}: thread_operations and values have not the same number of repetitions")
    return lines


def load(text):
    """A document from its text; NaN and Infinity are no JSON."""

    def refuse(word):
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def without(document, *path):
    """A copy of the document that lacks one member."""
    made = copy.deepcopy(document)
    inner = made
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return made


def replaced(document, value, *path):
    """A copy of the document with one member replaced or added."""
    made = copy.deepcopy(document)
    inner = made
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return made


def main():
    failed = False
    for name in sys.argv[1:]:
        for line in complaints(load(pathlib.Path(name).read_text(encoding="utf-8"))):
            print(f"{name}: {line}")
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
