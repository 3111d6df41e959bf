#include "models/program/value.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/check.h"

namespace orrery {

std::string text(const ValueType& type, const Mesh& mesh) {
  ORRERY_CHECK(type.axes.size() == mesh.axes().size(), "a type has one state per mesh axis");
  constexpr std::array<std::pair<AxisState, char>, 3> kLetters = {
      {{AxisState::Varying, 'V'}, {AxisState::Unreduced, 'U'}, {AxisState::Reduced, 'R'}}};
  std::vector<std::string> states;
  for (const auto& [state, letter] : kLetters) {
    std::vector<std::string> names;
    for (size_t a = 0; a < type.axes.size(); ++a)
      if (type.axes[a] == state)
        names.push_back(mesh.axes()[a].name);
    if (names.size() == 1)
      states.push_back(fmt::format("{}:{}", letter, names[0]));
    else if (!names.empty())
      states.push_back(fmt::format("{}:({})", letter, fmt::join(names, ",")));
  }
  const std::string what =
      type.token ? "token" : fmt::format("{}{}", name(type.dtype), type.shape.text());
  return fmt::format("{}{}{}", type.future ? "future " : "", what,
                     states.empty() ? "" : fmt::format("{{{}}}", fmt::join(states, ", ")));
}

}  // namespace orrery
