#pragma once

// This reads literal elements: one row-major list per device. An element of a complex dtype is
// [real part, imaginary part].

#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"

namespace orrery {

/// Says how elements are written: as numbers, "NaN" (any NaN), "Infinity", "-Infinity", true and
/// false; or as their bits, read as an unsigned integer.
enum class Encoding : uint8_t { Values, Bits };

/// Reads the key "encoding". The result is Values if the key is absent, and empty if it is invalid.
std::optional<Encoding> read_encoding(Fields& fields, Diagnostics& diagnostics);

struct LiteralType {
  Dtype dtype;
  Shape shape;
  Encoding encoding;
  size_t devices;  // the number of lists
};
/// Returns the tensor that one list states. The result is empty if an error was added.
std::optional<Tensor> read_tensor(DocumentNode list, const LiteralType& type,
                                  Diagnostics& diagnostics);

/// Returns one tensor per list. Returns nothing if an error was added, at most one per list.
std::optional<std::vector<Tensor>> read_tensors(DocumentNode node, const LiteralType& type,
                                                Diagnostics& diagnostics);

}  // namespace orrery
