#include "tools/report/names.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace orrery {

std::string_view name(HeldAs kind) {
  static constexpr std::array<std::string_view, 5> kNames = {"argument", "output", "temporary",
                                                             "in_flight", "scratch"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view name(TimedBy timed_by) {
  return timed_by == TimedBy::Sweep ? "sweep" : "engine";
}

std::string_view name(Verdict verdict) {
  static constexpr std::array<std::string_view, 3> kNames = {"holds", "undecided", "fails"};
  return kNames[static_cast<size_t>(verdict)];
}

std::string_view in_words(Verdict verdict) {
  static constexpr std::array<std::string_view, 3> kWords = {"holds", "is undecided",
                                                             "does not hold"};
  return kWords[static_cast<size_t>(verdict)];
}

std::string types_text(const Scenario& scenario, const Op& op) {
  std::vector<std::string> types;
  for (const ValueId id : op.results) {
    ValueType type = scenario.program.value(id).type;
    if (scenario.checks == Checks::Shapes)
      std::fill(type.axes.begin(), type.axes.end(), AxisState::Invarying);
    types.push_back(text(type, scenario.program.mesh));
  }
  return types.size() == 1 ? types[0] : fmt::format("({})", fmt::join(types, ", "));
}

std::string digest_text(uint64_t digest) {
  return fmt::format("{:016x}", digest);
}

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace orrery
