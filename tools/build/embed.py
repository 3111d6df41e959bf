#!/usr/bin/env python3
"""Writes a C++ source that holds the catalog's JSON files: embed.py OUTPUT FILE..."""

import pathlib
import sys

output, *files = map(pathlib.Path, sys.argv[1:])
entries = []
for file in sorted(files, key=lambda f: f.stem):
    text = file.read_text()
    assert ')catalog"' not in text, f'{file} holds the end of a raw string'
    entries.append(f'    CatalogEntry{{"{file.stem}", R"catalog({text})catalog"}},\n')
output.write_text(
    '#include <array>\n\n#include "models/fabric/fabric.h"\n\nnamespace orrery {\n\n'
    'std::span<const CatalogEntry> catalog() {\n'
    '  static constexpr std::array kEntries = {\n' + ''.join(entries) + '  };\n'
    '  return kEntries;\n}\n\n}  // namespace orrery\n')
