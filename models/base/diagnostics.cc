#include "models/base/diagnostics.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace orrery {

namespace {

std::string render(std::string_view file, const std::vector<Diagnostic>& faults) {
  std::string text;
  for (const Diagnostic& fault : faults) {
    if (!text.empty())
      text += '\n';
    text +=
        fmt::format("{}:{}:{}: {}{}{}", file, fault.origin.line, fault.origin.column,
                    fault.origin.pointer, fault.origin.pointer.empty() ? "" : ": ", fault.message);
  }
  return text;
}

/// Optimal string alignment: no letter is edited twice.
size_t edit_distance(std::string_view a, std::string_view b) {
  // Distances of the first i letters of a to each beginning of b, for this i and the two before.
  std::vector<size_t> row(b.size() + 1), above(b.size() + 1), above_that(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(above_that, above);
    std::swap(above, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], above_that[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

InputError::InputError(std::string_view file, std::vector<Diagnostic> faults)
    : std::runtime_error(render(file, faults)), faults_(std::move(faults)) {}

void Diagnostics::throw_if_any() const {
  if (faults_.empty())
    return;
  std::vector<Diagnostic> sorted = faults_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.origin.line, a.origin.column) < std::pair(b.origin.line, b.origin.column);
  });
  throw InputError(file_, std::move(sorted));
}

std::string_view near_miss(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  size_t best_distance = std::min<size_t>(3, (word.size() + 1) / 2);
  // A word far longer than any key cannot be a slip, and must not cost quadratic time.
  if (word.size() > 64)
    return best;
  for (std::string_view candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace orrery
