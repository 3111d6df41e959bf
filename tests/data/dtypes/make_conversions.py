#!/usr/bin/env python3
"""Writes conversions.txt beside this file: what NumPy and ml_dtypes make of every 8- and 16-bit element.

A line "FROM TO HASH..." has one hash for each 4096 elements of FROM, in the order of their bits: FNV-1a over
whole elements of TO (h = (h ^ bits) * 0x100000001b3 modulo 2^64, from 0xcbf29ce484222325). Every NaN counts as
the one of models/array/arith.h. Where C leaves a conversion open (float to an integer that does not hold it)
the table saturates and makes 0 of NaN, as XLA does.
"""

import math
import pathlib

import ml_dtypes
import numpy as np

NAN = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8000000000000,
       "f8e4m3fn": 0x7F, "f8e5m2": 0x7E}
TYPES = {"pred": np.bool_, "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64,
         "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
         "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
         "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}


def word(dtype):
    return np.dtype(f"uint{8 * np.dtype(dtype).itemsize}")


def elements(name):
    """Every element, in the order of its bits."""
    if name == "pred":
        return np.array([False, True])
    bits = word(TYPES[name])
    return np.arange(256 ** bits.itemsize, dtype=bits).view(TYPES[name])


def saturated(values, dtype):
    limits = np.iinfo(dtype)

    def one(x):
        if math.isnan(x):
            return 0
        if math.isinf(x):
            return limits.max if x > 0 else limits.min
        return min(max(math.trunc(x), limits.min), limits.max)

    return np.array([one(x) for x in values.astype(np.float64).tolist()], dtype=dtype)


def converted(values, source, target):
    if source == target:
        return values
    if source in NAN and target not in NAN and target != "pred":
        return saturated(values, TYPES[target])
    with np.errstate(all="ignore"):
        return values.astype(TYPES[target])


def bits_of(values, name):
    bits = values.view(word(TYPES[name])).astype(np.uint64)
    if name in NAN:
        bits[np.isnan(values.astype(np.float64))] = NAN[name]
    return bits


def hashes(bits):
    pages = bits.reshape(-1, min(len(bits), 4096))
    h = np.full(len(pages), 0xCBF29CE484222325, dtype=np.uint64)
    for column in pages.T:
        h = (h ^ column) * np.uint64(0x100000001B3)
    return [f"{x:016x}" for x in h]


def main():
    lines = []
    for source, dtype in TYPES.items():
        if np.dtype(dtype).itemsize > 2:
            continue
        values = elements(source)
        for target in TYPES:
            if source != target:  # to itself nothing changes, a NaN's bits neither
                bits = bits_of(converted(values, source, target), target)
                lines.append(" ".join([source, target, *hashes(bits)]))
    path = pathlib.Path(__file__).with_name("conversions.txt")
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
