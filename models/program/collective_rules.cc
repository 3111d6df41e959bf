// The collectives, under JAX's names and parameters, and done. Each can be started instead of
// waited for.

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/program/families.h"
#include "models/program/groups.h"
#include "models/program/ragged_type.h"
#include "models/program/type_checks.h"

namespace orrery {

namespace {

using Need = Parameter::Need;

/// `own`, after the parameters of all collectives. The last six say how it is executed, and do not
/// change its meaning.
std::vector<Parameter> collective_parameters(std::vector<Parameter> own) {
  std::vector<Parameter> all = {
      {"axis_name", ParameterKind::Names, Need::Required, {}, {}, {}, {}},
      {"axis_index_groups", ParameterKind::IntegerLists, Need::Optional, {}, {}, {}, {}},
  };
  for (Parameter& parameter : own)
    all.push_back(std::move(parameter));
  const std::vector<Parameter> hints = {
      {"algorithm", ParameterKind::Text, Need::Optional, {}, {}, {}, {}},
      {"channels", ParameterKind::Integer, Need::Optional, {}, 1, kMostChannels, {}},
      {"protocol", ParameterKind::Text, Need::Optional, {}, {}, {}, {}},
      {"stream", ParameterKind::Integer, Need::Optional, int64_t{0}, 0, 1023, {}},
      {"slots", ParameterKind::Integer, Need::Optional, {}, 1, kMostSlots, {}},
      {"entry",
       ParameterKind::Text,
       Need::Optional,
       std::string("eager"),
       {},
       {},
       {"eager", "rendezvous"}},
  };
  all.insert(all.end(), hints.begin(), hints.end());
  return all;
}

Parameter tiled() {
  return {"tiled", ParameterKind::Boolean, Need::Optional, false, {}, {}, {}};
}

/// Applies kType; over no axes the result has the operand's type.
template <TypeOutcome (*kType)(const TypeContext&)>
TypeOutcome over_axes(const TypeContext& context) {
  if (over_no_axes(context.attributes))
    return std::vector<ValueType>{context.operands[0]};
  return kType(context);
}

template <Exchange kExchange>
TypeOutcome psum(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  return typed(summed_dtype(operand.dtype), operand.shape, exchanged_states(context, kExchange));
}

/// The dtype of a sum divided by a number: JAX's, with 64-bit types enabled.
Dtype mean_dtype(Dtype dtype) {
  if (is_inexact(dtype))
    return dtype;
  return itemsize(dtype) == Bytes(8) ? Dtype::F64 : Dtype::F32;
}

TypeOutcome pmean(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  return typed(mean_dtype(operand.dtype), operand.shape, exchanged_states(context, Exchange::Mean));
}

// As in JAX: the index along several axes would be ambiguous.
TypeOutcome extremal_rank(const TypeContext& context) {
  const std::vector<std::string>& names = context.attributes.names("axis_name");
  if (names.size() != 1)
    return TypeError{"axis_name", fmt::format("expected one axis, got {}", names.size())};
  if (auto error = unordered_error("of", context.operands[0].dtype))
    return *error;
  return typed(Dtype::S32, context.operands[0].shape,
               exchanged_states(context, Exchange::Extremum));
}

TypeOutcome extremum(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  if (auto error = unordered_error("of", operand.dtype))
    return *error;
  return typed(operand.dtype, operand.shape, exchanged_states(context, Exchange::Extremum));
}

TypeOutcome gathered(const TypeContext& context, Exchange exchange) {
  const ValueType& operand = context.operands[0];
  const bool tiled = context.attributes.boolean("tiled");
  const int64_t axis = context.attributes.integer("axis");
  const auto result_rank = static_cast<int64_t>(operand.shape.rank()) + (tiled ? 0 : 1);
  if (result_rank == 0)
    return dimension_error("axis", axis, 0).value();
  if (axis < -result_rank || axis >= result_rank)
    return TypeError{"axis",
                     fmt::format("expected a dimension of the result, from {} to {}, got {}",
                                 -result_rank, result_rank - 1, axis)};
  const auto dimension = static_cast<size_t>(axis < 0 ? axis + result_rank : axis);
  Shape shape = tiled ? operand.shape.with(dimension, checked_multiply(operand.shape[dimension],
                                                                       context.group_size))
                      : operand.shape.inserted(dimension, context.group_size);
  return typed(operand.dtype, std::move(shape), exchanged_states(context, exchange));
}

TypeOutcome all_gather(const TypeContext& context) {
  const std::string& to = context.attributes.text("to");
  return gathered(context, to == "reduced"     ? Exchange::MoveToReduced
                           : to == "invarying" ? Exchange::MoveToInvarying
                                               : Exchange::Move);
}

template <Exchange kExchange>
TypeOutcome all_gather_to(const TypeContext& context) {
  return gathered(context, kExchange);
}

/// The error in dimension `dimension` as one that has an entry for each member of the group.
std::optional<TypeError> entries_error(const TypeContext& context, std::string_view parameter,
                                       int64_t dimension, std::string_view hint) {
  const Shape& shape = context.operands[0].shape;
  if (auto error = dimension_error(parameter, dimension, shape.rank()))
    return error;
  const int64_t extent = shape[static_cast<size_t>(dimension)];
  if (extent != context.group_size)
    return TypeError{std::string(parameter),
                     fmt::format("expected dimension {} to be the group size {}, got {}{}",
                                 dimension, context.group_size, extent, hint)};
  return std::nullopt;
}

/// The error in splitting dimension `dimension` into as many parts as the group has members.
std::optional<TypeError> cut_error(const TypeContext& context, std::string_view parameter,
                                   int64_t dimension) {
  if (!context.attributes.boolean("tiled"))
    return entries_error(context, parameter, dimension,
                         "; a tiled one need only be divisible by it");
  const Shape& shape = context.operands[0].shape;
  if (auto error = dimension_error(parameter, dimension, shape.rank()))
    return error;
  const int64_t extent = shape[static_cast<size_t>(dimension)];
  if (extent % context.group_size != 0)
    return TypeError{
        std::string(parameter),
        fmt::format("expected dimension {} to be divisible by the group size {}, got {}", dimension,
                    context.group_size, extent)};
  return std::nullopt;
}

template <Exchange kExchange>
TypeOutcome psum_scatter(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  if (operand.dtype == Dtype::Pred)
    return TypeError{"of", "expected an operand of numbers, got pred"};
  const int64_t along = context.attributes.integer("scatter_dimension");
  if (auto error = cut_error(context, "scatter_dimension", along))
    return *error;
  const auto dimension = static_cast<size_t>(along);
  Shape shape = context.attributes.boolean("tiled")
                    ? operand.shape.with(dimension, operand.shape[dimension] / context.group_size)
                    : operand.shape.without(dimension);
  return typed(operand.dtype, std::move(shape), exchanged_states(context, kExchange));
}

TypeOutcome all_to_all(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  const int64_t split_axis = context.attributes.integer("split_axis");
  const int64_t concat_axis = context.attributes.integer("concat_axis");
  if (auto error = cut_error(context, "split_axis", split_axis))
    return *error;
  if (auto error = dimension_error("concat_axis", concat_axis, operand.shape.rank()))
    return *error;
  const auto split = static_cast<size_t>(split_axis);
  const auto concat = static_cast<size_t>(concat_axis);
  Shape shape;
  if (context.attributes.boolean("tiled")) {
    shape = operand.shape.with(split, operand.shape[split] / context.group_size);
    shape = shape.with(concat, checked_multiply(shape[concat], context.group_size));
  } else {
    shape = operand.shape.without(split).inserted(concat, context.group_size);
  }
  return typed(operand.dtype, std::move(shape), exchanged_states(context, Exchange::Move));
}

TypeOutcome pswapaxes(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  if (auto error = entries_error(context, "axis", context.attributes.integer("axis"), ""))
    return *error;
  return typed(operand.dtype, operand.shape, exchanged_states(context, Exchange::Move));
}

/// The error in `perm`, pairs [source, destination], over a group of `size`.
std::optional<TypeError> pairs_error(const std::vector<std::vector<int64_t>>& pairs, int64_t size) {
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

/// The error in `perm`, the source of each rank, over a group of `size`.
std::optional<TypeError> sources_error(const std::vector<int64_t>& perm, int64_t size) {
  std::vector<int64_t> sources = perm;
  std::sort(sources.begin(), sources.end());
  for (int64_t rank = 0; rank < size; ++rank)
    if (static_cast<int64_t>(sources.size()) != size || sources[static_cast<size_t>(rank)] != rank)
      return TypeError{"perm", fmt::format("expected each of the ranks 0 to {} once, got [{}]",
                                           size - 1, fmt::join(perm, ","))};
  return std::nullopt;
}

/// The error in the pairs of a transfer, each of which waits for the next where one's destination
/// is the other's source: they must not form a cycle, as XLA requires.
std::optional<TypeError> transfer_error(const std::vector<std::vector<int64_t>>& pairs,
                                        int64_t size) {
  if (auto wrong = pairs_error(pairs, size))
    return wrong;
  std::map<int64_t, int64_t> destination;
  for (const std::vector<int64_t>& pair : pairs)
    destination.emplace(pair[0], pair[1]);
  std::set<int64_t> seen;  // ranks from which every way ends
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

// JAX sorts the group of a ppermute (and of a pshuffle, which is one) by device. Its ranks would
// then have another order than in every other collective. So only an order that both share is
// accepted.
template <class PermError>
TypeOutcome permuted(const TypeContext& context, PermError perm_error) {
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

TypeOutcome ppermute(const TypeContext& context) {
  return permuted(
      context, [&] { return pairs_error(context.attributes.lists("perm"), context.group_size); });
}

TypeOutcome psend(const TypeContext& context) {
  TypeOutcome sent = permuted(context, [&] {
    return transfer_error(context.attributes.lists("perm"), context.group_size);
  });
  if (auto* types = std::get_if<std::vector<ValueType>>(&sent)) {
    types->front().dtype = Dtype::Pred;
    types->front().shape = Shape({0});
    types->front().token = true;
  }
  return sent;
}

// JAX types the result from its shape alone, as invarying. It varies over the axes, and over what
// the operand does: its token has the operand's states. Where they meet by a site it may vary over
// any axis.
TypeOutcome precv(const TypeContext& context) {
  if (!context.operands.empty() && !context.operands[0].token)
    return TypeError{"of", fmt::format("expected a token, as psend gives, got {}",
                                       text(context.operands[0], context.mesh))};
  const AxisStates states = context.operands.empty()
                                ? AxisStates(context.mesh.axes().size(), AxisState::Varying)
                                : context.operands[0].axes;
  const std::vector<ValueType> arriving = {
      {context.attributes.dtype("dtype"), Shape(context.attributes.integers("shape")), states}};
  return permuted(
      {context.mesh, context.checks, context.attributes, arriving, context.group_size},
      [&] { return transfer_error(context.attributes.lists("perm"), context.group_size); });
}

// JAX takes a perm of fewer ranks, and fills the others with zeros; that is a ppermute.
TypeOutcome pshuffle(const TypeContext& context) {
  return permuted(context, [&] {
    return sources_error(context.attributes.integers("perm"), context.group_size);
  });
}

// Unlike other exchanges it does not cast to varying: equal copies need no broadcast.
TypeOutcome pbroadcast(const TypeContext& context) {
  const ValueType& operand = context.operands[0];
  const int64_t source = context.attributes.integer("source");
  if (source < 0 || source >= context.group_size)
    return TypeError{"source", fmt::format("expected a rank from 0 to {}, got {}",
                                           context.group_size - 1, source)};
  return typed(operand.dtype, operand.shape, exchanged_states(context, Exchange::MoveVarying));
}

TypeOutcome done(const TypeContext& context) {
  ValueType type = context.operands[0];
  if (!type.future)
    return TypeError{"of", fmt::format("expected a future, the result of a start, got {}",
                                       text(type, context.mesh))};
  type.future = false;
  return std::vector<ValueType>{std::move(type)};
}

size_t gather_dimension(const Attributes& given, const Shape& operand) {
  const int64_t axis = given.integer("axis");
  const int64_t result_rank =
      static_cast<int64_t>(operand.rank()) + (given.boolean("tiled") ? 0 : 1);
  return static_cast<size_t>(axis < 0 ? axis + result_rank : axis);
}

size_t swapped_dimension(const Attributes& given, const Shape& /*operand*/) {
  return static_cast<size_t>(given.integer("axis"));
}

size_t scatter_dimension(const Attributes& given, const Shape& /*operand*/) {
  return static_cast<size_t>(given.integer("scatter_dimension"));
}

size_t split_dimension(const Attributes& given, const Shape& /*operand*/) {
  return static_cast<size_t>(given.integer("split_axis"));
}

size_t concat_dimension(const Attributes& given, const Shape& /*operand*/) {
  return static_cast<size_t>(given.integer("concat_axis"));
}

OpRules collective(OpKind kind, std::string_view name, std::string_view summary,
                   std::vector<Parameter> own, TypeRule type, GroupSizes sizes,
                   CollectiveForm form) {
  OpRules rules;
  rules.kind = kind;
  rules.name = name;
  rules.summary = summary;
  rules.family = Family::Collective;
  rules.parameters = collective_parameters(std::move(own));
  rules.type = type;
  rules.group_sizes = sizes;
  rules.form = form;
  return rules;
}

/// The half of a transfer in which a device sends or receives. It has no axis_index_groups, as in
/// JAX. How messages are passed, the last parameters, is for the sender to say.
OpRules half_of_transfer(Side side, OpRules own) {
  std::erase_if(own.parameters, [&](const Parameter& parameter) {
    const auto is = [&](std::initializer_list<std::string_view> names) {
      return std::find(names.begin(), names.end(), parameter.name) != names.end();
    };
    return is({"axis_index_groups"}) ||
           (side == Side::Receives && is({"algorithm", "channels", "protocol", "slots", "entry"}));
  });
  own.form.side = side;
  return own;
}

/// `own` exchanges as `kind` does, between other states.
OpRules exchanging_as(OpKind kind, OpRules own) {
  own.exchanges_as = kind;
  return own;
}

/// Operand, output and four tables.
OpRules ragged(OpRules rules) {
  rules.least_operands = kRaggedTables.end;
  rules.most_operands = kRaggedTables.end;
  rules.index_operands = kRaggedTables;
  rules.form.exchanged_operands = kRaggedTables.first;
  rules.form.by_tables = true;
  return rules;
}

/// XLA may let the result of an all-reduce or a broadcast take over the operand's storage.
OpRules over_dying_operand(OpRules rules) {
  rules.memory = results_over_dying;
  return rules;
}

/// Every rank gets the whole result.
CollectiveForm reduction(Combine combine, Entering entering = Entering::Same,
                         Leaving leaving = Leaving::Same) {
  CollectiveForm form;
  form.combine = combine;
  form.entering = entering;
  form.leaving = leaving;
  return form;
}

CollectiveForm parts(Combine combine, PartsRule operand, PartsRule result) {
  CollectiveForm form;
  form.combine = combine;
  form.operand_parts = operand;
  form.result_parts = result;
  return form;
}

Parameter dimension(std::string_view name, Need need) {
  Parameter parameter{name, ParameterKind::Integer, need, {}, {}, {}, {}};
  if (need == Need::Optional)
    parameter.otherwise = int64_t{0};
  return parameter;
}

Parameter gathered_to() {
  return {"to",
          ParameterKind::Text,
          Need::Optional,
          std::string("varying"),
          {},
          {},
          {"varying", "invarying", "reduced"}};
}

}  // namespace

bool over_no_axes(const Attributes& given) {
  return given.names("axis_name").empty();
}

std::vector<OpRules> collective_rules() {
  OpRules end;
  end.kind = OpKind::Done;
  end.name = "done";
  end.summary = "waits for a started collective; its result is the collective's";
  end.family = Family::Done;
  end.type = done;
  end.memory = results_in_operands;
  end.takes_tokens = true;
  OpRules receive = exchanging_as(
      OpKind::Psend,
      half_of_transfer(
          Side::Receives,
          collective(OpKind::Precv, "precv",
                     "each destination gets what the psend of the token, or of the site, sends it, "
                     "the others zeros",
                     {{"shape", ParameterKind::Integers, Need::Required, {}, 0, {}, {}},
                      {"dtype", ParameterKind::DtypeName, Need::Required, {}, {}, {}, {}},
                      {"perm", ParameterKind::IntegerLists, Need::Required, {}, {}, {}, {}}},
                     precv, GroupSizes::Equal, {})));
  receive.least_operands = 0;
  receive.takes_tokens = true;
  return {
      over_dying_operand(collective(OpKind::Psum, "psum",
                                    "the sum over the group; pred is counted in s32", {},
                                    over_axes<psum<Exchange::Sum>>, GroupSizes::Any,
                                    reduction(Combine::Add, Entering::Counted, Leaving::Same))),
      over_dying_operand(collective(
          OpKind::Pmean, "pmean",
          "the sum over the group, divided by its size; f32 for integers, f64 for those of "
          "64 bits",
          {}, pmean, GroupSizes::Any, reduction(Combine::Add, Entering::Counted, Leaving::Mean))),
      over_dying_operand(collective(OpKind::Pmax, "pmax", "the elementwise maximum over the group",
                                    {}, over_axes<extremum>, GroupSizes::Any,
                                    reduction(Combine::Max))),
      over_dying_operand(collective(OpKind::Pmin, "pmin", "the elementwise minimum over the group",
                                    {}, over_axes<extremum>, GroupSizes::Any,
                                    reduction(Combine::Min))),
      collective(OpKind::Pargmax, "pargmax",
                 "the lowest rank that has the elementwise maximum; 2147483647 where any has a NaN",
                 {}, extremal_rank, GroupSizes::Any,
                 reduction(Combine::Max, Entering::Ranked, Leaving::ItsRank)),
      collective(OpKind::Pargmin, "pargmin",
                 "the lowest rank that has the elementwise minimum; 2147483647 where any has a NaN",
                 {}, extremal_rank, GroupSizes::Any,
                 reduction(Combine::Min, Entering::Ranked, Leaving::ItsRank)),
      collective(OpKind::AllGather, "all_gather",
                 "the operands of the group stacked along a new dimension, or tiled along an old",
                 {dimension("axis", Need::Optional), tiled(), gathered_to()}, over_axes<all_gather>,
                 GroupSizes::Equal, parts(Combine::None, nullptr, gather_dimension)),
      collective(OpKind::PsumScatter, "psum_scatter",
                 "the sum over the group, each member keeping its own part of it",
                 {dimension("scatter_dimension", Need::Optional), tiled()},
                 over_axes<psum_scatter<Exchange::SumScatter>>, GroupSizes::Equal,
                 parts(Combine::Add, scatter_dimension, nullptr)),
      collective(OpKind::AllToAll, "all_to_all",
                 "part q of each operand goes to member q, which puts them side by side",
                 {dimension("split_axis", Need::Required), dimension("concat_axis", Need::Required),
                  tiled()},
                 over_axes<all_to_all>, GroupSizes::Equal,
                 parts(Combine::None, split_dimension, concat_dimension)),
      collective(OpKind::Pswapaxes, "pswapaxes",
                 "entry q of each operand goes to member q, which stacks them: mesh axis and "
                 "dimension change places",
                 {dimension("axis", Need::Required)}, over_axes<pswapaxes>, GroupSizes::Equal,
                 parts(Combine::None, swapped_dimension, swapped_dimension)),
      collective(OpKind::Ppermute, "ppermute",
                 "each destination gets its source's operand, the others zeros",
                 {{"perm", ParameterKind::IntegerLists, Need::Required, {}, {}, {}, {}}},
                 over_axes<ppermute>, GroupSizes::Equal, {}),
      collective(OpKind::Pshuffle, "pshuffle", "member q gets the operand of member perm[q]",
                 {{"perm", ParameterKind::Integers, Need::Required, {}, {}, {}, {}}},
                 over_axes<pshuffle>, GroupSizes::Equal, {}),
      over_dying_operand(
          collective(OpKind::Pbroadcast, "pbroadcast", "every member gets the source's operand",
                     {{"source", ParameterKind::Integer, Need::Required, {}, {}, {}, {}}},
                     over_axes<pbroadcast>, GroupSizes::Equal, {})),
      ragged(collective(
          OpKind::RaggedAllToAll, "ragged_all_to_all",
          "output, with slices of rows over it that the members send each other, of "
          "any sizes; `of` is [operand, output, input_offsets, send_sizes, output_offsets, "
          "recv_sizes]. It varies where any of them does, while JAX takes the type of output alone",
          {{"assume_sizes", ParameterKind::IntegerLists, Need::Optional, {}, {}, {}, {}},
           {"disjoint_reads", ParameterKind::Boolean, Need::Optional, false, {}, {}, {}}},
          ragged_all_to_all_type, GroupSizes::Equal, {})),
      half_of_transfer(
          Side::Sends,
          collective(
              OpKind::Psend, "psend",
              "each source sends its operand to its destination, where a precv takes it; the "
              "result is a token",
              {{"perm", ParameterKind::IntegerLists, Need::Required, {}, {}, {}, {}}}, psend,
              GroupSizes::Equal, {})),
      receive,
      exchanging_as(OpKind::Psum, over_dying_operand(collective(
                                      OpKind::UnreducedPsum, "unreduced_psum",
                                      "psum of an unreduced operand: the sum that it stands for",
                                      {}, over_axes<psum<Exchange::UnreducedSum>>, GroupSizes::Any,
                                      reduction(Combine::Add, Entering::Counted, Leaving::Same)))),
      exchanging_as(OpKind::PsumScatter,
                    collective(OpKind::UnreducedPsumScatter, "unreduced_psum_scatter",
                               "psum_scatter of an unreduced operand",
                               {dimension("scatter_dimension", Need::Optional), tiled()},
                               over_axes<psum_scatter<Exchange::UnreducedScatter>>,
                               GroupSizes::Equal, parts(Combine::Add, scatter_dimension, nullptr))),
      exchanging_as(OpKind::AllGather,
                    collective(OpKind::AllGatherInvariant, "all_gather_invariant",
                               "all_gather, whose result is invarying: equal on all ranks",
                               {dimension("axis", Need::Optional), tiled()},
                               over_axes<all_gather_to<Exchange::MoveToInvarying>>,
                               GroupSizes::Equal, parts(Combine::None, nullptr, gather_dimension))),
      exchanging_as(
          OpKind::AllGather,
          collective(
              OpKind::AllGatherReduced, "all_gather_reduced",
              "all_gather, whose result is reduced: equal on all ranks, with cotangents that "
              "are addends",
              {dimension("axis", Need::Optional), tiled()},
              over_axes<all_gather_to<Exchange::MoveToReduced>>, GroupSizes::Equal,
              parts(Combine::None, nullptr, gather_dimension))),
      end,
  };
}

}  // namespace orrery
