// This part of builder.h checks a reshard between the whole mesh and groups of an MPMD mesh, and
// finds its transfer groups. builder_reshards.cc makes its ops.

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/mesh/mpmd.h"
#include "models/program/builder.h"

namespace orrery {

/// Checks the arrays, and finds their sizes and transfer groups. Reports errors.
bool ProgramBuilder::check_reshard(Reshard& reshard, const OpRequest& keys) {
  ORRERY_CHECK(open_loops_.empty(), "a reshard, which donates its operands, is in no loop");
  bool right = true;
  const auto refuse = [&](std::string_view key, std::string_view message) {
    add_error(keys, key, message);
    right = false;
  };
  const bool to_groups = reshard.to == Reshard::To::Groups;
  const ThreadId thread(program_.threads.size() - 1);
  Bytes all_sizes;  // these sums throw Overflow here, and so nowhere else
  Bytes all_targets;
  std::map<BufferId, std::string_view> stored;
  for (size_t i = 0; i < reshard.arrays.size(); ++i) {
    Reshard::Array& array = reshard.arrays[i];
    const std::string wanted_key =
        to_groups ? fmt::format("shardings/{}/spec", i) : fmt::format("specs/{}", i);
    const auto value = value_named(array.from, keys.key_origin("of"), thread);
    if (!value) {
      right = false;
      continue;
    }
    const ValueType& type = program_.value(*value).type;
    if (type.future || type.token) {
      refuse("of", fmt::format("expected an array, got \"{}\", a {}", array.from,
                               type.future ? "future" : "token"));
      continue;
    }
    if (const auto device = first_without(*value); device && to_groups) {
      refuse("of", fmt::format("expected an array of the whole mesh, got \"{}\", which {}",
                               array.from, whereabouts(*value, *device)));
      continue;
    }
    const auto& [buffer, first] = *stored.emplace(program_.value(*value).buffer, array.from).first;
    if (first != array.from) {
      refuse("of", fmt::format("expected arrays with storage of their own, got \"{}\" and \"{}\", "
                               "which share it",
                               first, array.from));
      continue;
    }
    const std::string held = fmt::format("{}{}", name(type.dtype), type.shape.text());
    if (const auto error = rank_error(array.given.dims.size(), type.shape.rank(), held)) {
      refuse("of", *error);
      continue;
    }
    AxisStates states(program_.mesh.axes().size(), AxisState::Invarying);
    for (const auto& [axis, dimension] : array_mapping(array.given))
      states[*program_.mesh.axis(axis)] = AxisState::Varying;
    const bool is_sum_or_reduced =
        std::any_of(type.axes.begin(), type.axes.end(),
                    [](AxisState state) { return state > AxisState::Varying; });
    if (is_sum_or_reduced || (checks_ == Checks::States && states != type.axes)) {
      refuse("of", fmt::format("expected an array that varies over the axes of its spec {} alone, "
                               "got \"{}\", {}",
                               array.given.text(), array.from, text(type, program_.mesh)));
      continue;
    }
    try {
      const Shape global = global_shape(program_.mesh, array.given, type.shape);
      static_cast<void>(itemsize(type.dtype) * global.elements());
      const PartitionSpec target =
          to_groups ? without_axis(array.wanted, reshard.axis) : array.wanted;
      auto error = rank_error(target.dims.size(), global.rank(), global.text());
      for (size_t d = 0; d < target.dims.size() && !error; ++d)
        error = divisible_error(program_.mesh, target.dims[d], d, global[d]);
      if (error) {
        refuse(wanted_key, *error);
        continue;
      }
      const int64_t groups = program_.mesh.axes()[*program_.mesh.axis(reshard.axis)].size;
      const Bytes target_size =
          itemsize(type.dtype) * local_shape(program_.mesh, target, global).elements();
      array.size = reshard.counts_targets ? target_size : type.size() * groups;
      all_sizes += array.size;
      all_targets += target_size;
    } catch (const Overflow&) {
      refuse("of",
             fmt::format("expected fewer than 2^63 bytes in all arrays, got more up to \"{}\", "
                         "{} on each device",
                         array.from, held));
    }
  }
  if (!right)
    return false;
  std::vector<Bytes> sizes;
  std::vector<std::set<int64_t>> groups;
  for (const Reshard::Array& array : reshard.arrays) {
    sizes.push_back(array.size);
    groups.push_back(array.groups);
  }
  const Bytes none(std::numeric_limits<int64_t>::max());
  reshard.transfers = {to_groups ? interleaved_order(sizes, groups) : descending_order(sizes)};
  reshard.transfers = transfers_with(reshard, reshard.threshold.value_or(none));
  std::map<std::string_view, size_t> moved_in;
  for (size_t t = 0; t < reshard.transfers.size(); ++t)
    for (const size_t array : reshard.transfers[t]) {
      const std::string& source = reshard.arrays[array].from;
      const size_t first = moved_in.emplace(source, t).first->second;
      if (first != t)
        refuse("of", fmt::format("expected \"{}\" in one transfer group, got it in groups {} and "
                                 "{}: the first frees it",
                                 source, first + 1, t + 1));
    }
  return right && check_same_site(reshard, keys);
}

/// Returns whether the reshards of a site, one in each program, move alike. Reports an error
/// otherwise.
bool ProgramBuilder::check_same_site(const Reshard& reshard, const OpRequest& keys) {
  if (reshard.site.empty())
    return true;
  const auto other = std::find_if(program_.reshards.begin(), program_.reshards.end(),
                                  [&](const Reshard& each) { return each.site == reshard.site; });
  if (other == program_.reshards.end())
    return true;
  if (other->thread.index() + 1 == program_.threads.size()) {
    add_error(keys, "site",
              fmt::format("expected a site once in a program, got \"{}\" again", reshard.site));
    return false;
  }
  const auto definition = [&](const std::string& name) { return defined_.find(name)->second; };
  const auto same = [&](const Reshard::Array& a, const Reshard::Array& b) {
    const Definition one = definition(a.from);
    const Definition two = definition(b.from);
    const bool argument = !one.thread || !two.thread;  // which all programs share
    const ValueType& type = program_.value(*one.value).type;
    const ValueType& other_type = program_.value(*two.value).type;
    return a.given == b.given && a.wanted == b.wanted && a.groups == b.groups &&
           (!argument || a.from == b.from) && type.dtype == other_type.dtype &&
           type.shape == other_type.shape;
  };
  if (other->to == reshard.to && other->axis == reshard.axis &&
      other->threshold == reshard.threshold && other->counts_targets == reshard.counts_targets &&
      std::equal(other->arrays.begin(), other->arrays.end(), reshard.arrays.begin(),
                 reshard.arrays.end(), same))
    return true;
  add_error(keys, "site",
            fmt::format("expected the arrays, shardings and threshold that site \"{}\" has in "
                        "program \"{}\", got others",
                        reshard.site, program_.thread(other->thread).name));
  return false;
}

}  // namespace orrery
