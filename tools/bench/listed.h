#pragma once

// Lists in scenarios that programs write.

#include <cstdint>
#include <string>

namespace orrery {

/// text(0), text(1), ... joined by commas; `count` of them.
template <class Text>
std::string listed(int64_t count, Text text) {
  std::string list;
  for (int64_t i = 0; i < count; ++i)
    list += (i == 0 ? "" : ", ") + text(i);
  return list;
}

}  // namespace orrery
