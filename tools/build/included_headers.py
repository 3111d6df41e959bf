#!/usr/bin/env python3
"""Prints the project's headers that the given ones reach, themselves included: included_headers.py ROOT HEADER..."""

import pathlib
import re
import sys

root, *unread = sys.argv[1:]
seen = set()
while unread:
    header = unread.pop()
    if header not in seen:
        seen.add(header)
        unread += re.findall(r'^#include "(.*)"$', (pathlib.Path(root) / header).read_text(), re.MULTILINE)
print('\n'.join(sorted(seen)))
