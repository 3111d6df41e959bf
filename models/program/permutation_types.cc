#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/program/collective_types.h"
#include "models/program/families.h"
#include "models/program/groups.h"
#include "models/program/states.h"

namespace orrery {

namespace {

/// Returns the error in `perm`, pairs [source, destination], over a group of `size`.
std::optional<TypeError> perm_pairs_error(const std::vector<std::vector<int64_t>>& pairs,
                                          int64_t size) {
  std::vector<bool> sends(static_cast<size_t>(size), false);
  std::vector<bool> receives(static_cast<size_t>(size), false);
  for (const std::vector<int64_t>& pair : pairs) {
    if (pair.size() != 2)
      return TypeError{"perm", fmt::format("expected pairs [source, destination], got [{}]",
                                           fmt::join(pair, ","))};
    for (const int64_t rank : pair)
      if (rank < 0 || rank >= size)
        return TypeError{"perm",
                         fmt::format("expected ranks from 0 to {}, got {}", size - 1, rank)};
    if (sends[static_cast<size_t>(pair[0])])
      return TypeError{"perm",
                       fmt::format("expected each source once, got rank {} twice", pair[0])};
    if (receives[static_cast<size_t>(pair[1])])
      return TypeError{"perm",
                       fmt::format("expected each destination once, got rank {} twice", pair[1])};
    sends[static_cast<size_t>(pair[0])] = true;
    receives[static_cast<size_t>(pair[1])] = true;
  }
  return std::nullopt;
}

/// Returns the error in `perm`, the source of each rank, over a group of `size`.
std::optional<TypeError> sources_error(const std::vector<int64_t>& perm, int64_t size) {
  std::vector<int64_t> sources = perm;
  std::sort(sources.begin(), sources.end());
  for (int64_t rank = 0; rank < size; ++rank)
    if (static_cast<int64_t>(sources.size()) != size || sources[static_cast<size_t>(rank)] != rank)
      return TypeError{"perm", fmt::format("expected each of the ranks 0 to {} once, got [{}]",
                                           size - 1, fmt::join(perm, ","))};
  return std::nullopt;
}

/// Returns the error in the pairs of a transfer. A pair waits for another if its destination is the
/// other's source. The pairs must not form a cycle, as XLA requires.
std::optional<TypeError> transfer_error(const std::vector<std::vector<int64_t>>& pairs,
                                        int64_t size) {
  if (auto wrong = perm_pairs_error(pairs, size))
    return wrong;
  std::map<int64_t, int64_t> destination;
  for (const std::vector<int64_t>& pair : pairs)
    destination.emplace(pair[0], pair[1]);
  std::set<int64_t> seen;  // ranks from which no cycle is reached
  for (const std::vector<int64_t>& pair : pairs) {
    std::vector<int64_t> way = {pair[0]};
    for (auto next = destination.find(pair[0]);
         next != destination.end() && seen.count(next->second) == 0;
         next = destination.find(next->second)) {
      way.push_back(next->second);
      if (next->second == pair[0])
        return TypeError{
            "perm", fmt::format("expected pairs without a cycle, got {}", fmt::join(way, " -> "))};
    }
    seen.insert(way.begin(), way.end());
  }
  return std::nullopt;
}

// JAX sorts the group of a ppermute (and of a pshuffle, which is one) by device. In all other
// collectives ranks have the order of the axes. So only axes for which both orders are the same are
// accepted.
template <class PermError>
TypeOutcome permutation_type(const TypeContext& context, PermError perm_error) {
  const std::vector<std::string>& names = context.attributes.names("axis_name");
  const std::vector<size_t> axes = axis_positions(context.mesh, names);
  if (!std::is_sorted(axes.begin(), axes.end()))
    return TypeError{"axis_name", fmt::format("expected axes in the order of the mesh, got ({})",
                                              fmt::join(names, ", "))};
  if (std::optional<TypeError> error = perm_error())
    return *error;
  const ValueType& operand = context.operands[0];
  return typed(operand.dtype, operand.shape, exchanged_states(context, Exchange::Move));
}

}  // namespace

TypeOutcome ppermute_type(const TypeContext& context) {
  return permutation_type(context, [&] {
    return perm_pairs_error(context.attributes.lists("perm"), context.group_size);
  });
}

TypeOutcome psend_type(const TypeContext& context) {
  TypeOutcome sent = permutation_type(context, [&] {
    return transfer_error(context.attributes.lists("perm"), context.group_size);
  });
  if (auto* types = std::get_if<std::vector<ValueType>>(&sent)) {
    types->front().dtype = Dtype::Pred;
    types->front().shape = Shape({0});
    types->front().token = true;
  }
  return sent;
}

// JAX types the result from its shape alone, as invarying. But it varies over the op's axes, and
// over the axes over which the sent operand varies, whose states the token has. If psend and precv
// meet by a site's name, the result may vary over any axis.
TypeOutcome precv_type(const TypeContext& context) {
  if (!context.operands.empty() && !context.operands[0].token)
    return TypeError{"of", fmt::format("expected a token, as psend gives, got {}",
                                       text(context.operands[0], context.mesh))};
  const AxisStates states = context.operands.empty()
                                ? AxisStates(context.mesh.axes().size(), AxisState::Varying)
                                : context.operands[0].axes;
  const std::vector<ValueType> arriving = {
      {context.attributes.dtype("dtype"), Shape(context.attributes.integers("shape")), states}};
  return permutation_type(
      {context.mesh, context.checks, context.attributes, arriving, context.group_size},
      [&] { return transfer_error(context.attributes.lists("perm"), context.group_size); });
}

// JAX also takes a perm of fewer ranks, and gives zeros to the others. A ppermute does that here.
TypeOutcome pshuffle_type(const TypeContext& context) {
  return permutation_type(context, [&] {
    return sources_error(context.attributes.integers("perm"), context.group_size);
  });
}

}  // namespace orrery
