# SPDX-License-Identifier: GPL-3.0-or-later
"""Just enough of JSON Schema to hold a command's JSON against what it promises."""

import re

TYPES = {
    "null": lambda v: v is None,
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}
KNOWN = {"$ref", "$schema", "$defs", "additionalProperties", "anyOf", "description", "enum", "items",
         "minimum", "pattern", "properties", "required", "title", "type"}


def faults(value, schema, root, place="result"):
    """What value breaks of schema, as lines; raises where the schema says what is not known here."""
    unknown = set(schema) - KNOWN
    if unknown:
        raise ValueError("%s: %s" % (place, unknown))
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].lstrip("#/").split("/"):
            target = target[part]
        return faults(value, target, root, place)
    found = []
    if "anyOf" in schema and all(faults(value, one, root, place) for one in schema["anyOf"]):
        found.append("%s is none of its shapes" % place)
    if "enum" in schema and value not in schema["enum"]:
        found.append("%s: %r is none of %s" % (place, value, schema["enum"]))
    types = schema.get("type", list(TYPES))
    if not any(TYPES[t](value) for t in ([types] if isinstance(types, str) else types)):
        found.append("%s: %r is no %s" % (place, value, types))
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        found.append("%s: %r does not match %s" % (place, value, schema["pattern"]))
    if TYPES["number"](value) and value < schema.get("minimum", value):
        found.append("%s: %r is too small" % (place, value))
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            found += faults(item, schema["items"], root, "%s[%d]" % (place, i))
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        found += ["%s has no %s" % (place, k) for k in schema.get("required", []) if k not in value]
        for key, item in value.items():
            if key in properties:
                found += faults(item, properties[key], root, "%s.%s" % (place, key))
            elif schema.get("additionalProperties", True) is False:
                found.append("%s: %s is not promised" % (place, key))
    return found
