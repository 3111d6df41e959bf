#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "models/base/characters.h"
#include "tools/cli/inputs.h"

namespace orrery {

std::string calibration_date(const std::optional<std::string>& asked) {
  if (asked) {
    require_label("--date", *asked);
    return *asked;
  }
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

void require_label(std::string_view option, const std::string& text) {
  constexpr size_t kLongest = 500;
  if (text.empty() || text.size() > kLongest || not_utf8_at(text) || has_control_character(text))
    refuse(option, fmt::format("expected 1 to {} bytes of printable UTF-8", kLongest));
}

void require_writable(const std::string& path) {
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  const bool opens = std::ofstream(path, std::ios::app).good();
  if (!opens)
    refuse(path, "cannot be written");
  if (!exists)
    std::filesystem::remove(path, error);
}

}  // namespace orrery
