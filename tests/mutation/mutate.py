#!/usr/bin/env python3
"""Puts mutants into a copy of the sources: mutate.py BUILD COPY COUNT SEED [FOLDER...]

BUILD is a build folder with compile_commands.json, COPY a second checkout of the same tree, whose
files under the folders (default: simulator verifier models/program) are rewritten. COUNT mutants
are drawn with SEED from all that are found. COPY/mutants.json lists them: number, place, change.

A mutant changes one operator, one number or one condition, or leaves out one statement. All are in one build;
the environment variable ORRERY_MUTANT activates one (mutants.h). Needs Debian's python3-clang-14.
"""

import json
import random
import sys
from pathlib import Path

from clang.cindex import Config, CursorKind, Index, TokenKind, TypeKind

Config.set_library_file("/usr/lib/x86_64-linux-gnu/libclang-14.so.1")

OPERATORS = {"<": ("lt", "<="), "<=": ("le", "<"), ">": ("gt", ">="), ">=": ("ge", ">"), "==": ("eq", "!="),
             "!=": ("ne", "=="), "+": ("add", "-"), "-": ("sub", "+"), "*": ("mul", "+"), "/": ("div", "*")}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
# What is evaluated by the compiler is not mutated.
CONSTANT = {CursorKind.STATIC_ASSERT, CursorKind.ENUM_CONSTANT_DECL, CursorKind.CASE_STMT,
            CursorKind.TEMPLATE_TYPE_PARAMETER, CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
            CursorKind.TYPE_ALIAS_DECL, CursorKind.TYPE_ALIAS_TEMPLATE_DECL}
STATEMENTS = {CursorKind.CALL_EXPR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR, CursorKind.BINARY_OPERATOR,
              CursorKind.UNARY_OPERATOR}
BUILTIN = {TypeKind.BOOL, TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.UCHAR, TypeKind.SHORT, TypeKind.USHORT,
           TypeKind.INT, TypeKind.UINT, TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG, TypeKind.ULONGLONG,
           TypeKind.INT128, TypeKind.UINT128, TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.ENUM, TypeKind.POINTER}


class Source:
    """One file, and the mutants that are found in it."""

    def __init__(self, path):
        self.text = path.read_bytes()
        self.mutants = {}  # (begin, end, what) -> edits


def span(cursor):
    return cursor.extent.start.offset, cursor.extent.end.offset


def is_builtin(cursor):
    return cursor.type.get_canonical().kind in BUILTIN


def operator_of(cursor, children):
    """The operator between two operands, and where it is."""
    left, right = span(children[0])[1], span(children[1])[0]
    for token in cursor.get_tokens():
        if token.kind == TokenKind.PUNCTUATION and left <= token.extent.start.offset < right:
            if token.spelling != ")":
                return token.spelling, token.extent.start.offset, token.extent.end.offset
    return None


class Finder:
    def __init__(self, root, folders):
        self.root = root
        self.folders = [root / folder for folder in folders]
        self.sources = {}

    def source(self, cursor):
        name = cursor.location.file.name if cursor.location.file else None
        if name is None:
            return None
        path = (self.root / name).resolve()
        if not any(folder in path.parents for folder in self.folders):
            return None
        return self.sources.setdefault(path, Source(path))

    def visit(self, cursor, constant=False):
        if cursor.kind != CursorKind.TRANSLATION_UNIT:
            source = self.source(cursor)
            if source is None:
                return
            constant = constant or self.is_constant(cursor, source)
            if not constant:
                self.find(cursor, source)
        for child in cursor.get_children():
            self.visit(child, constant)

    @staticmethod
    def is_constant(cursor, source):
        if cursor.kind in CONSTANT:
            return True
        if cursor.kind == CursorKind.IF_STMT:
            return False
        if cursor.kind in (CursorKind.VAR_DECL, CursorKind.FIELD_DECL):
            begin, end = span(cursor)
            return b"constexpr" in source.text[begin:end].split(b"=")[0] or cursor.type.kind in (
                TypeKind.CONSTANTARRAY, TypeKind.DEPENDENTSIZEDARRAY)
        return False

    def find(self, cursor, source):
        children = list(cursor.get_children())
        begin, end = span(cursor)
        if cursor.kind == CursorKind.BINARY_OPERATOR and len(children) == 2:
            self.find_operator(cursor, children, source)
        elif cursor.kind == CursorKind.INTEGER_LITERAL and source.text[begin:end] in (b"0", b"1", b"2"):
            number = source.text[begin:end].decode()
            other = "0" if number == "1" else str(int(number) + 1)
            self.add(source, begin, end, f"{number} -> {other}",
                     [(begin, end, f"::mutants::value(@, {number}, {other})")])
        elif cursor.kind == CursorKind.COMPOUND_STMT:
            for child in children:
                self.find_statement(child, source)

    def find_operator(self, cursor, children, source):
        found = operator_of(cursor, children)
        if found is None:
            return
        operator, at, past = found
        begin, end = span(cursor)
        if operator in ("&&", "||"):
            for child in children:
                b, e = span(child)
                left = "(::mutants::on(@) || (" if operator == "&&" else "(!::mutants::on(@) && ("
                what = "true" if operator == "&&" else "false"
                self.add(source, b, e, f"{source.text[b:e].decode()} -> {what}", [(b, b, left), (e, e, "))")])
        elif operator in OPERATORS and all(is_builtin(child) for child in children):
            if operator not in COMPARISONS and any(
                    child.type.get_canonical().kind in (TypeKind.POINTER, TypeKind.ENUM) for child in children):
                return
            name, other = OPERATORS[operator]
            self.add(source, begin, end, f"{operator} -> {other}",
                     [(begin, begin, f"::mutants::{name}(@, ("), (at, past, "), ("), (end, end, "))")])

    def find_statement(self, cursor, source):
        inner = cursor
        while inner.kind == CursorKind.UNEXPOSED_EXPR and len(list(inner.get_children())) == 1:
            inner = next(iter(inner.get_children()))
        if inner.kind in STATEMENTS:
            begin, end = span(cursor)
            if source.text[end:end + 1] == b";":
                self.add(source, begin, end, "left out", [(begin, begin, "if (!::mutants::on(@)) ")])

    @staticmethod
    def add(source, begin, end, what, edits):
        # Text of a macro is elsewhere than its offsets say.
        line = source.text.rfind(b"\n", 0, begin) + 1
        if b"CHECK(" in source.text[line:end] or source.text[line:line + 1] == b"#" or begin >= end:
            return
        source.mutants[(begin, end, what)] = edits


def rewritten(source, chosen):
    """The text with the edits of (number, edits). Edits of inner expressions lie within those of outer ones."""
    inserts = {}  # offset -> list of (order, text)
    replaced = {}  # begin -> (end, text)
    def outer_first(mutant):
        begin, end, what = mutant[1]
        return begin, -end, not what.endswith(("-> true", "-> false"))  # a condition holds the operator of its span

    for number, (begin, end, _), edits in sorted(chosen, key=outer_first):
        for first, last, text in edits:
            text = text.replace("@", str(number))
            if first != last:
                replaced[first] = (last, text)
            elif first == begin:
                inserts.setdefault(first, [[], []])[1].append(text)  # outer ones first
            else:
                inserts.setdefault(first, [[], []])[0].insert(0, text)  # inner ones first
    result = bytearray()
    at = 0
    for offset in sorted(set(inserts) | set(replaced)):
        result += source.text[at:offset]
        at = offset
        if offset in inserts:
            for text in inserts[offset][0] + inserts[offset][1]:
                result += text.encode()
        if offset in replaced:
            at, text = replaced[offset]
            result += text.encode()
    return bytes(result + source.text[at:])


def main():
    build, copy, count, seed = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), int(sys.argv[3]), sys.argv[4]
    folders = sys.argv[5:] or ["simulator", "verifier", "models/program"]
    root = build
    while not (root / ".clang-tidy").exists():
        root = root.parent
    finder = Finder(root, folders)
    index = Index.create()
    for command in json.loads((build / "compile_commands.json").read_text()):
        path = (build / command["file"]).resolve()
        if not any(root / folder in path.parents for folder in folders):
            continue
        arguments = [a for a in command["command"].split() if a.startswith(("-I", "-D", "-std"))]
        arguments = [f"-I{(build / a[2:]).resolve()}" if a.startswith("-I") else a for a in arguments]
        finder.visit(index.parse(str(path), arguments).cursor)
    found = sorted((str(path.relative_to(root)), key) for path, source in finder.sources.items()
                   for key in source.mutants)
    random.Random(seed).shuffle(found)
    kept = sorted(found[:count])
    listed, by_file = [], {}
    for number, (name, key) in enumerate(kept, start=1):
        source = finder.sources[root / name]
        by_file.setdefault(name, []).append((number, key, source.mutants[key]))
        line = source.text.count(b"\n", 0, key[0]) + 1
        text = source.text[key[0]:key[1]].decode()
        listed.append({"number": number, "file": name, "line": line, "change": key[2], "text": text})
    for name, chosen in by_file.items():
        (copy / name).write_bytes(rewritten(finder.sources[root / name], chosen))
    (copy / "mutants.json").write_text(json.dumps(listed, indent=1))
    print(f"{len(found)} mutants found, {len(listed)} chosen, in {len(by_file)} files")


if __name__ == "__main__":
    main()
