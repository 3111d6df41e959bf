#pragma once

// These are short names for the lists that attributes hold.

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::test {

using Names = std::vector<std::string>;
using Integers = std::vector<int64_t>;
using Lists = std::vector<Integers>;

inline const Names kX = {"x"};

}  // namespace orrery::test
