#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/program/program.h"
#include "verifier/check/names.h"
#include "verifier/check/values.h"

namespace orrery {

namespace {

/// Returns the values that stand for an array on groups: one in each program that moves it.
std::vector<ValueId> values_of(const Program& program, const Reshard& reshard, size_t array,
                               const std::map<std::string_view, ValueId>& by_name) {
  std::vector<ValueId> values;
  for (const Reshard& each : program.reshards)
    if (each.meets(reshard)) {
      const Reshard::Array& moved = each.arrays[array];
      values.push_back(by_name.at(each.to == Reshard::To::Groups ? moved.to : moved.from));
    }
  return values;
}

}  // namespace

std::vector<Check> replicas_equal(const Program& program, const DeviceValues& values) {
  const Mesh& mesh = program.mesh;
  const std::map<std::string_view, ValueId> by_name = values_by_name(program);
  std::vector<Check> checks;
  for (size_t r = 0; r < program.reshards.size(); ++r) {
    const Reshard& reshard = program.reshards[r];
    if (met_before(program, r))
      continue;
    const std::array axis = {*mesh.axis(reshard.axis)};
    const std::string pointer = reshard.origin ? reshard.origin->pointer : "/program";
    size_t compared = 0;
    std::optional<Check> unequal;
    for (size_t a = 0; a < reshard.arrays.size() && !unequal; ++a) {
      const std::set<int64_t>& groups = reshard.arrays[a].groups;
      const std::vector<ValueId> named = values_of(program, reshard, a, by_name);
      const auto held_by = [&](LogicalId device) -> const Tensor* {
        for (const ValueId value : named)
          if (const std::optional<Tensor>& tensor = values.at(value, device))
            return &*tensor;
        return nullptr;
      };
      for (const LogicalId first : all_devices(mesh)) {
        if (mesh.coordinate(first, axis[0]) != *groups.begin() || unequal)
          continue;
        const Tensor* const own = held_by(first);
        for (auto group = std::next(groups.begin()); own != nullptr && group != groups.end();
             ++group) {
          const LogicalId other = mesh.with_index(first, axis, *group);
          const Tensor* const copy = held_by(other);
          if (copy == nullptr)
            continue;
          ++compared;
          const auto element = differing_element(*own, *copy);
          if (!element)
            continue;
          const std::string& name = program.value(named.front()).name;
          unequal = failed(
              CheckKind::MpmdReplicas, pointer,
              fmt::format("Groups {} and {} have {} in element {} of \"{}\", on devices {} and {}.",
                          *groups.begin(), *group, differing_text(*own, *copy, *element), *element,
                          name, first.index(), other.index()),
              {{"value", name},
               {"devices", fmt::format("{} and {}", first.index(), other.index())}});
          break;
        }
      }
    }
    if (unequal)
      checks.push_back(std::move(*unequal));
    else if (compared > 0)
      checks.push_back(passed(CheckKind::MpmdReplicas, pointer));
  }
  return checks;
}

}  // namespace orrery
