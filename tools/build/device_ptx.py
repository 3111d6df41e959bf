#!/usr/bin/env python3
"""The PTX of the CUDA kernels that is checked in, for builds without nvcc.

    device_ptx.py write CLANG        makes it anew, by clang 14
    device_ptx.py check [CLANG]      fails if it is stale: by the hash of its sources, which it states, and where clang
                                     14 is given byte for byte
    device_ptx.py accept PTXAS       fails if ptxas refuses it
"""

import hashlib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = 'simulator/values/cuda/kernels/device_kernels.cu'
PTX = ROOT / 'simulator/values/cuda/kernels/kernels.ptx'
# PTX 7.0 of sm_80: every driver since 450 takes it, for every GPU since Ampere. Everything is inlined, since a function
# that is given the address of a kernel's argument would have it copied to slow memory.
FLAGS = ['-x', 'cuda', '--cuda-device-only', '--cuda-gpu-arch=sm_80', '-nocudainc', '-nocudalib', '-std=c++20', '-O2',
         '-ffp-contract=off', '-mllvm', '-inline-threshold=1000000', '-Xclang', '-target-feature', '-Xclang', '+ptx70',
         '-Wno-unknown-cuda-version', '-I.', '-S', '-o', '-']


def sources():
    """The kernels' source, and the project's headers that it reaches, in name order."""
    seen, unread = set(), [SOURCE]
    while unread:
        path = unread.pop()
        if path not in seen:
            seen.add(path)
            unread += re.findall(r'^#include "(.*)"$', (ROOT / path).read_text(), re.MULTILINE)
    return sorted(seen)


def code_of(text):
    """Without comments and blank lines."""
    text = re.sub(r'^\s*//.*\n', '', text, flags=re.MULTILINE)
    text = re.sub(r'\s+//.*$', '', text, flags=re.MULTILINE)
    return re.sub(r'^\s*\n', '', text, flags=re.MULTILINE)


def source_hash():
    digest = hashlib.sha256(' '.join(FLAGS).encode())
    for path in sources():
        digest.update(f'\n{path}\n{code_of((ROOT / path).read_text())}'.encode())
    return digest.hexdigest()


def made(clang):
    text = subprocess.run([clang, *FLAGS, SOURCE], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    text = re.sub(r'^\t+', '', code_of(text), flags=re.MULTILINE)
    return f'// Made by tools/build/device_ptx.py. SHA-256 of its sources: {source_hash()}\n{text}'


def is_clang_14(clang):
    version = subprocess.run([clang, '--version'], capture_output=True, text=True).stdout
    return re.search(r'clang version 14\.', version) is not None


def main():
    task, *tool = sys.argv[1:]
    again = 'it is made anew by: tools/build/device_ptx.py write clang++-14'
    if task == 'write':
        assert is_clang_14(tool[0]), 'clang 14 writes it, so that every machine has the same bytes'
        PTX.write_text(made(tool[0]))
    elif task == 'check':
        text = PTX.read_text()
        if source_hash() not in text.split('\n', 1)[0]:
            sys.exit(f'{PTX.relative_to(ROOT)} is stale: its sources have changed; {again}')
        if tool and is_clang_14(tool[0]) and made(tool[0]) != text:
            sys.exit(f'{PTX.relative_to(ROOT)} is not what clang makes of its sources; {again}')
    elif task == 'accept':
        for arch in ['sm_80', 'sm_90', 'sm_100']:
            subprocess.run([tool[0], f'-arch={arch}', '-O0', '-o', '/dev/null', PTX], check=True)
    else:
        sys.exit(__doc__)


main()
