"""The dtypes of scenarios, under HLO's short names, as NumPy has them."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Dtype:
    name: str
    numpy: np.dtype
    kind: str  # "pred", "signed", "unsigned", "float" or "complex"
    integers: float  # of what rounds: the largest n such that all integers up to n are numbers of the dtype
    largest: float  # of what rounds: results stay below it, so that no order of operations overflows

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_complex(self) -> bool:
        return self.kind == "complex"

    @property
    def rounds(self) -> bool:
        return self.is_float or self.is_complex

    @property
    def part(self) -> "Dtype":
        """The dtype of the parts of complex numbers, and the dtype itself for others."""
        return DTYPES[{"c64": "f32", "c128": "f64"}.get(self.name, self.name)]

    @property
    def is_integer(self) -> bool:
        return self.kind in ("signed", "unsigned")

    @property
    def bits(self) -> int:
        return 8 * self.numpy.itemsize


def _integer(name: str, numpy: type) -> Dtype:
    kind = "unsigned" if name.startswith("u") else "signed"
    return Dtype(name, np.dtype(numpy), kind, 0, 0)


DTYPES = {
    dtype.name: dtype
    for dtype in (
        Dtype("pred", np.dtype(np.bool_), "pred", 0, 0),
        _integer("s8", np.int8),
        _integer("s16", np.int16),
        _integer("s32", np.int32),
        _integer("s64", np.int64),
        _integer("u8", np.uint8),
        _integer("u16", np.uint16),
        _integer("u32", np.uint32),
        _integer("u64", np.uint64),
        Dtype("f16", np.dtype(np.float16), "float", 2.0**11, 2.0**14),
        Dtype("bf16", np.dtype(ml_dtypes.bfloat16), "float", 2.0**8, 2.0**60),
        Dtype("f32", np.dtype(np.float32), "float", 2.0**24, 2.0**60),
        Dtype("f64", np.dtype(np.float64), "float", 2.0**53, 2.0**60),
        Dtype("f8e4m3fn", np.dtype(ml_dtypes.float8_e4m3fn), "float", 2.0**4, 2.0**8),
        Dtype("f8e5m2", np.dtype(ml_dtypes.float8_e5m2), "float", 2.0**3, 2.0**14),
        # Squares are taken of magnitudes.
        Dtype("c64", np.dtype(np.complex64), "complex", 2.0**24, 2.0**30),
        Dtype("c128", np.dtype(np.complex128), "complex", 2.0**53, 2.0**30),
    )
}


def to_hex(array: np.ndarray) -> str:
    """The elements' bits, row-major, each in hexadecimal of its full width; of complex numbers those of both parts."""
    size = array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)
    big_endian = np.ascontiguousarray(array).reshape(-1).view(np.dtype(f"u{size}")).astype(f">u{size}")
    return big_endian.tobytes().hex()


def from_hex(bits: str, dtype: Dtype) -> np.ndarray:
    """The elements of which to_hex() gives these bits."""
    size = dtype.part.numpy.itemsize
    return np.frombuffer(bytes.fromhex(bits), f">u{size}").astype(f"u{size}").view(dtype.numpy)
