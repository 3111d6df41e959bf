#pragma once

// Literal elements: one row-major list per device.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"

namespace orrery {

/// How elements are written: as numbers, "NaN", "Infinity", "-Infinity", true and false; or as
/// their bits, read as an unsigned integer.
enum class Encoding : uint8_t { Values, Bits };

/// The key "encoding": Values where it is absent; empty where it is faulty.
std::optional<Encoding> read_encoding(Fields& fields, Diagnostics& faults);

struct LiteralForm {
  Dtype dtype;
  Shape shape;
  Encoding encoding;
  size_t devices;  // how many lists
};
/// The tensor that one list says; empty where a fault was added.
std::optional<Tensor> read_tensor(DocumentNode list, const LiteralForm& form, Diagnostics& faults);

/// One tensor per list; empty where a fault was added (the first one of each list).
std::optional<std::vector<Tensor>> read_tensors(DocumentNode node, const LiteralForm& form,
                                                Diagnostics& faults);

}  // namespace orrery
