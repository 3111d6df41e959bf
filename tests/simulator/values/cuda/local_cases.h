#pragma once

// Makes random local ops of every kind.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/random.h"
#include "models/program/op.h"
#include "models/program/program.h"

namespace orrery::test {

struct LocalCase {
  std::vector<Tensor> operands = {};
  std::vector<std::pair<std::string, Attribute>> attributes = {};
  size_t results = 1;
};

/// Returns a case of an op whose main operand (or result) has the dtype; empty if the op does not
/// take the dtype.
std::optional<LocalCase> random_local(OpKind kind, Dtype dtype, Random& random);

/// Returns the program of one op, on a mesh of 2 by 3 devices. Throws InputError if it is refused.
Program program_of(OpKind kind, const LocalCase& of);

}  // namespace orrery::test
