#!/usr/bin/env python3
"""Writes a C++ source that holds files: embed.py OUTPUT HEADER FUNCTION ENTRY FILE...

HEADER declares ENTRY, two string_views (a file's name up to its first dot, and its text), and FUNCTION, which
returns a span of them, in name order.
"""

import pathlib
import sys

output, header, function, entry, *files = sys.argv[1:]
entries = []
for file in sorted(map(pathlib.Path, files), key=lambda f: f.name):
    text = file.read_text()
    assert ')embedded"' not in text, f'{file} holds the end of a raw string'
    name = file.name.split('.')[0]
    entries.append(f'    {entry}{{"{name}", R"embedded({text})embedded"}},\n')
# Clang warns of literals of more than 65,536 characters, which both compilers take.
pathlib.Path(output).write_text(
    f'#pragma GCC diagnostic ignored "-Woverlength-strings"\n#include <array>\n\n#include "{header}"\n\nnamespace orrery {{\n\n'
    f'std::span<const {entry}> {function}() {{\n'
    '  static constexpr std::array kEntries = {\n' + ''.join(entries) + '  };\n'
    '  return kEntries;\n}\n\n}  // namespace orrery\n')
