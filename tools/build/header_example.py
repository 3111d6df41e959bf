#!/usr/bin/env python3
"""Writes the example in a header's comment, its lines that are indented by four, as a source: header_example.py HEADER OUTPUT"""

import pathlib
import re
import sys

header, output = map(pathlib.Path, sys.argv[1:])
comment = re.match(r'#pragma once\n\n((?://.*\n)+)', header.read_text()).group(1)
example = re.search(r'(?://     .*\n|//\n)*//     .*\n', comment).group(0)
output.write_text(re.sub(r'^//(?:     )?', '', example, flags=re.MULTILINE).strip('\n') + '\n')
