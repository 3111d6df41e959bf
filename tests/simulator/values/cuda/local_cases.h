#pragma once

// Random local ops of every kind.

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

/// Of such an op, whose main operand (or result) is of the dtype; empty where it takes none.
std::optional<LocalCase> random_local(OpKind kind, Dtype dtype, Random& random);

/// The program of one op, on a mesh of 2 by 3 devices. Throws InputError where it is refused.
Program program_of(OpKind kind, const LocalCase& of);

}  // namespace orrery::test
