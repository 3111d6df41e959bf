#pragma once

// Literal elements: one row-major list per device. One of a complex dtype is [real part, imaginary
// part].

#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"

namespace orrery {

/// How elements are written: as numbers, "NaN" (any of them), "Infinity", "-Infinity", true and
/// false; or as their bits, read as an unsigned integer.
enum class Encoding : uint8_t { Values, Bits };

/// The key "encoding": Values where it is absent; empty where it is invalid.
std::optional<Encoding> read_encoding(Fields& fields, Diagnostics& diagnostics);

struct LiteralForm {
  Dtype dtype;
  Shape shape;
  Encoding encoding;
  size_t devices;  // how many lists
};
/// The tensor that one list says; empty where an error was added.
std::optional<Tensor> read_tensor(DocumentNode list, const LiteralForm& form,
                                  Diagnostics& diagnostics);

/// One tensor per list; empty where an error was added (the first one of each list).
std::optional<std::vector<Tensor>> read_tensors(DocumentNode node, const LiteralForm& form,
                                                Diagnostics& diagnostics);

}  // namespace orrery
