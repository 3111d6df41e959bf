#pragma once

#include <span>
#include <string_view>

namespace orrery {

/// start.json, built in.
struct StartFile {
  std::string_view name;
  std::string_view json;
};
std::span<const StartFile> start_files();

}  // namespace orrery
