#!/usr/bin/env python3
"""Writes a C++ source that holds the code of the CUDA kernels: device_image.py OUTPUT PTX [FATBIN]."""

import hashlib
import pathlib
import sys

output, ptx, *fatbin = sys.argv[1:]


def object_of(name, path, text):
    """Bytes between two symbols; of a text a zero follows, which libcuda wants."""
    lines = ['.balign 64', f'orrery_{name}:']
    if path:
        lines.append(f'.incbin \\"{pathlib.Path(path).resolve()}\\"')
    lines.append(f'orrery_{name}_end:')
    if text:
        lines.append('.byte 0')
    return lines


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


lines = ['.pushsection .rodata', *object_of('device_ptx', ptx, True),
         *object_of('device_fatbin', fatbin[0] if fatbin else None, False), '.popsection']
assembly = '\n'.join(f'    "{line}\\n"' for line in lines)
hashes = ' '.join(digest(path) for path in [ptx, *fatbin])
pathlib.Path(output).write_text(f'''// Of {hashes}
#include "simulator/values/cuda/kernels/kernels.h"

asm(
{assembly});

extern "C" {{
extern const char orrery_device_ptx[];
extern const char orrery_device_ptx_end[];
extern const std::byte orrery_device_fatbin[];
extern const std::byte orrery_device_fatbin_end[];
}}

namespace orrery::cuda {{

Image kernel_image() {{
  return {{{{orrery_device_fatbin, orrery_device_fatbin_end}}, {{orrery_device_ptx, orrery_device_ptx_end}}}};
}}

}}  // namespace orrery::cuda
''')
