#pragma once

// Where an op's results lie in memory, and the scratch that it needs.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/base/quantity.h"

namespace orrery {

enum class Alias : uint8_t {
  Fresh,         // in a buffer of its own
  DyingOperand,  // so too, but it may take over that of an operand that ends here, where the memory
                 // policy asks for it: no element is read after the same one has been written. Of a
                 // collective, if its schedule works in place (Extent::works_in_place)
  DyingFirst,    // so too, but of the first operand alone: others are read again later
  Operand,       // in the storage of an operand, which is not changed
  InPlace,       // so too, but the op writes it over the operand, which must be donated
};

/// Where one result lies.
struct ResultMemory {
  Alias alias = Alias::Fresh;
  size_t operand = 0;  // of Operand and InPlace: which one
  Bytes offset = {};   // the same: where in it the result begins
  friend bool operator==(const ResultMemory&, const ResultMemory&) = default;
};

struct OpMemory {
  std::vector<ResultMemory> results;  // one for each result
  Bytes scratch = {};                 // held while the op runs, beside its operands and results
  friend bool operator==(const OpMemory&, const OpMemory&) = default;
};

}  // namespace orrery
