#include "tools/report/units.h"

#include <fmt/format.h>

namespace orrery {

std::string percent_text(Bytes part, Bytes whole) {
  const Int128 tenths = (Int128{part.count()} * 2000 + whole.count()) / (Int128{whole.count()} * 2);
  return fmt::format("{}.{} %", static_cast<int64_t>(tenths / 10),
                     static_cast<int64_t>(tenths % 10));
}

std::string share_text(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

std::string grouped(uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t d = 0; d < digits.size(); ++d) {
    if (d > 0 && (digits.size() - d) % 3 == 0)
      text += ',';
    text += digits[d];
  }
  return text;
}

}  // namespace orrery
