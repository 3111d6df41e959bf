#pragma once

// Makes lists for the scenarios that tests and benchmarks write.

#include <cstdint>
#include <string>

namespace orrery {

/// Returns the `count` texts text(0), text(1), ... joined by commas.
template <class Text>
std::string listed(int64_t count, Text text) {
  std::string list;
  for (int64_t i = 0; i < count; ++i)
    list += (i == 0 ? "" : ", ") + text(i);
  return list;
}

}  // namespace orrery
