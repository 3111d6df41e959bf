#!/usr/bin/env python3
"""Two steps on the way from a terminal to a picture of it.

terminal_picture.py page ANSI HTML        writes what a terminal shows as a page; prints the window's size for it
terminal_picture.py text PNG TEXT OUTPUT  adds a text to a picture's file
"""

import html
import pathlib
import re
import struct
import sys
import zlib

COLOURS = {'31': '#f47067', '32': '#57ab5a', '33': '#c69026', '34': '#539bf5', '35': '#b083f0', '36': '#39c5cf'}
STYLES = {'1': 'font-weight:bold', '2': 'opacity:0.65', **{code: f'color:{c}' for code, c in COLOURS.items()}}
WIDTH, LINE, MARGIN = 8.43, 18, 16  # of a letter of 14 px, of a line, around them: px


def page(source, target):
    text = source.read_text().replace('\r\n', '\n').rstrip()
    body, styles = '', []
    for piece in re.split(r'(\x1b\[[0-9;]*m)', text):
        if not piece.startswith('\x1b'):
            body += f'<span style="{";".join(styles)}">{html.escape(piece)}</span>' if styles else html.escape(piece)
            continue
        for code in piece[2:-1].split(';'):
            styles = styles + [STYLES[code]] if code in STYLES else []
    target.write_text(
        '<meta charset="utf-8"><body style="margin:0;background:#1c2128;color:#cdd9e5">'
        f'<pre style="margin:{MARGIN}px;font:14px/{LINE}px DejaVu Sans Mono,monospace">{body}</pre>')
    lines = re.sub(r'\x1b\[[0-9;]*m', '', text).split('\n')
    print(f'{int(max(map(len, lines)) * WIDTH) + 2 * MARGIN},{len(lines) * LINE + 2 * MARGIN}')


def add_text(picture, text, target):
    # PNG's iTXt: keyword, not compressed, no language; it stands before the last chunk, IEND of 12 bytes.
    chunk = b'iTXt' + b'Description\0\0\0\0\0' + text.read_bytes()
    data = picture.read_bytes()
    target.write_bytes(data[:-12] + struct.pack('>I', len(chunk) - 4) + chunk + struct.pack('>I', zlib.crc32(chunk)) + data[-12:])


step, *files = sys.argv[1:]
{'page': page, 'text': add_text}[step](*map(pathlib.Path, files))
