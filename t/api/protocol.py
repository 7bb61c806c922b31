#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Compares doc/protocol*.md with an OpenAPI document: protocol.py DIRECTORY OPENAPI.JSON.

Prints a line for each difference and exits with 1 if there is one.  What the pages must look like for that is said
in doc/protocol.md, "How to read the tables".
"""
import glob
import json
import re
import sys

WORD = re.compile(r"`([^`]+)`(\?)?")
EVERYWHERE = {"400", "401", "403", "408", "413", "422", "429", "500", "503"}
# Shapes without fields of their own: texts, and a choice of others.
NO_FIELDS = {"Time", "Pong", "Block"}

differences = []


def differ(text):
    differences.append(text)


def tables(path):
    """Each table of a page as (headings, rows), cells without blanks around them."""
    rows = []
    for line in open(path, encoding="utf-8").read().split("\n") + [""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            yield rows[0], rows[2:]
            rows = []


def shapes_of(pages):
    """{shape: {field: (may be absent, what the page says of it)}} of all pages."""
    shapes = {}

    def add(name, fields, page):
        if name in shapes:
            differ(f"{page}: {name} has two tables")
        shapes[name] = fields

    for page in pages:
        for head, rows in tables(page):
            caption = re.match(r"`([A-Z]\w+)`", head[0])
            if caption:
                fields = {}
                for row in rows:
                    for name, absent in WORD.findall(row[0]):
                        fields[name] = (bool(absent), " ".join(row[1:]))
                add(caption[1], fields, page)
            elif head[0] == "shape":
                for row in rows:
                    # what stands in brackets says something of the field before it
                    said = re.sub(r"\([^()]*\)", lambda found: found[0].replace("`", "\x00"), row[1])
                    fields, last = {}, None
                    for part in re.split(r"(`[^`]+`\??)", said):
                        word = WORD.fullmatch(part)
                        if word:
                            last = word[1]
                            fields[last] = (bool(word[2]), "")
                        elif last:
                            fields[last] = (fields[last][0], fields[last][1] + part.replace("\x00", "`"))
                    add(WORD.match(row[0])[1], fields, page)
    return shapes


def flat(schema, prefix="", absent=False):
    """The fields of a schema as the pages name them: {name: (may be absent, [values of an enumeration])}."""
    fields = {}
    for name, part in schema.get("properties", {}).items():
        gone = name not in schema.get("required", [])
        items = part.get("items", {})
        values = [v for v in part.get("enum", [part["const"]] if "const" in part else []) if isinstance(v, str) and v]
        fields[prefix + name] = (gone, values)
        fields.update(flat(part, prefix + name + "."))
        fields.update(flat(items, prefix + name + "[]."))
    return fields


def compare_shape(name, schema, said):
    real = flat(schema)
    # a page may pass over an object whose members it lists
    implied = {field for field in real if field not in said and any(other.startswith(field + ".") for other in said)}
    for field in sorted(real.keys() - said.keys() - implied):
        differ(f"{name}.{field} is in the document only")
    for field in sorted(said.keys() - real.keys()):
        differ(f"{name}.{field} is in the pages only")
    for field in real.keys() & said.keys():
        absent, values = real[field]
        if absent != said[field][0]:
            differ(f"{name}.{field} may be absent: {absent} in the document, {said[field][0]} in the pages")
        for value in values:
            if f"`{value}`" not in said[field][1]:
                differ(f"{name}.{field}: the pages do not name its value {value}")


def compare_events(pages, schema):
    """The enumeration of AG-UI events against the table of them."""
    said = set()
    for page in pages:
        for head, rows in tables(page):
            if head[0] == "event":
                said |= {name for row in rows for name, _ in WORD.findall(row[0])}
    for name in sorted(said ^ set(schema["properties"]["type"]["enum"])):
        differ(f"event {name} is in one of document and pages only")


def shape_name(content, key="schema"):
    schema = next(iter(content.values()), {}).get(key, {}) if content else {}
    schema = schema.get("contentSchema", schema)
    reference = schema.get("$ref") or schema.get("properties", {}).get("data", {}).get("$ref", "")
    return reference.rsplit("/", 1)[-1]


def compare_routes(rows, document):
    said = {}
    for row in rows:
        method, path = WORD.match(row[0])[1], WORD.match(row[1])[1]
        said[method, re.sub("<([A-Z]+)_PATH>", lambda page: "/" + page[1].lower(), path)] = row[2:]
    real = {(m.upper(), path): op for path, ops in document["paths"].items() for m, op in ops.items()}
    for method, path in sorted(said.keys() ^ real.keys()):
        differ(f"{method} {path} is in {'the pages' if (method, path) in said else 'the document'} only")
    for key in sorted(said.keys() & real.keys()):
        route, (scope, body, answer, errors) = real[key], said[key]
        request = route.get("requestBody", {})
        facts = {
            "scope": (route.get("x-permission", ""), scope.strip("`")),
            "body": (shape_name(request.get("content")) or next(iter(request.get("content", {})), ""),
                     WORD.match(body)[1] if body else ""),
            "required": (request.get("required", False), bool(body) and not body.endswith("?")),
            "errors": ({code for code in route["responses"] if code[0] in "45" and
                        (code not in EVERYWHERE or code == "401")},
                       set(re.findall(r"\d+", errors))),
        }
        name = shape_name(route["responses"].get("200", {}).get("content"))
        if name:
            facts["answer"] = (name, WORD.match(answer)[1] if WORD.match(answer) else answer)
        for what, (is_so, is_said) in facts.items():
            if is_so != is_said:
                differ(f"{key[0]} {key[1]}: {what} is {is_so!r} in the document, {is_said!r} in the pages")


def compare_codes(rows, document):
    said = {(WORD.match(row[0])[1], row[1]) for row in rows}
    if len(said) != len(rows):
        differ("a code has two rows")
    real = {(code, name[len("Error"):]) for name, response in document["components"]["responses"].items()
            for code in response["x-error-codes"]}
    for code, status in sorted(said ^ real):
        # 405 is on every path, and therefore on none of the document; 401 is 403 by another name
        if status not in ("401", "405"):
            differ(f"code {code} with {status} is in {'the pages' if (code, status) in said else 'the document'} only")


def compare_changes(rows, described):
    """What the versions have added, less what they took away, is what the pages describe."""
    there = {kind: set() for kind in described}
    for version, change, kind, names in rows:
        for name, _ in WORD.findall(names):
            if change == "added" and name not in there[kind]:
                there[kind].add(name)
            elif change == "removed" and name in there[kind]:
                there[kind].remove(name)
            elif "." not in name or name.split(".")[0] not in there[kind]:
                differ(f"protocol-changes.md: {version} cannot have {change} {name}")
    for kind, names in described.items():
        for name in sorted(names ^ there[kind]):
            differ(f"protocol-changes.md: {name} is {'in no version' if name in names else 'described nowhere'}")


def main():
    directory, openapi = sys.argv[1:]
    document = json.load(open(openapi, encoding="utf-8"))
    pages = sorted(glob.glob(directory + "/protocol*.md"))
    schemas = document["components"]["schemas"]
    shapes = shapes_of(pages)
    everything = [(head, rows) for page in pages for head, rows in tables(page)]
    routes = [rows for head, rows in everything if head[0] == "method"]
    codes = [rows for head, rows in everything if head == ["code", "status", "text, or when"]]
    changes = [rows for head, rows in everything if head == ["version", "change", "kind", "names"]]
    if not len(routes) == len(codes) == len(changes) == 1:
        sys.exit("one table of routes, one of codes and one of changes are expected")
    compare_routes(routes[0], document)
    compare_codes(codes[0], document)
    for name in sorted(schemas.keys() - shapes.keys() - NO_FIELDS):
        differ(f"{name} is in the document only")
    for name in sorted(shapes.keys() - schemas.keys()):
        differ(f"{name} is in the pages only")
    for name in sorted(shapes.keys() & schemas.keys()):
        if name == "AgUiEvent":
            compare_events(pages, schemas[name])
        else:
            compare_shape(name, schemas[name], shapes[name])
    compare_changes(changes[0], {
        "routes": {f"{WORD.match(row[0])[1]} {WORD.match(row[1])[1]}" for row in routes[0]},
        "shapes": set(shapes),
        "codes": {WORD.match(row[0])[1] for row in codes[0]},
    })
    print("\n".join(differences))
    sys.exit(1 if differences else 0)


main()
