// This file has the collectives, under JAX's names and parameters, and done. Each collective can
// also be started.

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/program/collective_types.h"
#include "models/program/families.h"

namespace orrery {

namespace {

using Need = Parameter::Need;

/// Returns the parameters of all collectives with `own` among them. The last six say how the
/// collective is executed, and do not change its meaning.
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
      {"stream", ParameterKind::Integer, Need::Optional, int64_t{0}, 0, kMostStream, {}},
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

std::optional<TypeError> no_error(const TypeContext& /*context*/) {
  return std::nullopt;
}

/// Applies kType. Over no axes the result has the operand's type, unless a parameter is wrong.
template <TypeOutcome (*kType)(const TypeContext&),
          std::optional<TypeError> (*kWrongParameter)(const TypeContext&) = no_error>
TypeOutcome over_axes(const TypeContext& context) {
  if (!over_no_axes(context.attributes))
    return kType(context);
  if (auto error = kWrongParameter(context))
    return std::move(*error);
  return std::vector<ValueType>{context.operands[0]};
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

/// Returns the member that sends to `rank` by the pairs of "perm".
std::optional<Rank> permuted_from(const Attributes& given, Rank rank) {
  for (const std::vector<int64_t>& pair : given.lists("perm"))
    if (pair[1] == rank.index())
      return Rank(static_cast<size_t>(pair[0]));
  return std::nullopt;
}

std::optional<Rank> shuffled_from(const Attributes& given, Rank rank) {
  return Rank(static_cast<size_t>(given.integers("perm")[rank.index()]));
}

std::optional<Rank> broadcast_from(const Attributes& given, Rank /*rank*/) {
  return Rank(static_cast<size_t>(given.integer("source")));
}

OpRules collective(OpKind kind, std::string_view name, std::string_view summary,
                   std::vector<Parameter> own, TypeRule type, GroupSizes sizes, CollectiveForm form,
                   BackwardRule backward, BatchRule batch) {
  OpRules rules;
  rules.kind = kind;
  rules.name = name;
  rules.summary = summary;
  rules.family = Family::Collective;
  rules.parameters = collective_parameters(std::move(own));
  rules.type = type;
  rules.group_sizes = sizes;
  rules.form = form;
  rules.transforms = {backward, backward == nullptr ? LinearIn::None : LinearIn::All, batch};
  return rules;
}

/// Makes the half of a transfer in which a device sends or receives. That half has no
/// axis_index_groups, as in JAX. Only the sender has the last parameters, which say how messages
/// are passed.
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

OpRules timed_as(OpKind kind, OpRules own) {
  own.timed_as = kind;
  return own;
}

/// Says that `own` exchanges as `kind` does, between other states.
OpRules exchanging_as(OpKind kind, OpRules own) {
  own.exchanges_as = kind;
  return own;
}

/// Gives the op its operands: the operand, the output and four tables.
OpRules ragged(OpRules rules) {
  rules.least_operands = kRaggedTables.end;
  rules.most_operands = kRaggedTables.end;
  rules.index_operands = kRaggedTables;
  rules.form.exchanged_operands = kRaggedTables.first;
  rules.form.by_tables = true;
  rules.transforms.linear_in = LinearIn::Data;
  return rules;
}

/// XLA may let the result of an all-reduce or a broadcast take over the operand's storage.
OpRules over_dying_operand(OpRules rules) {
  rules.memory = results_over_dying;
  return rules;
}

/// Makes a form in which every rank gets the whole result.
CollectiveForm reduction(Combine combine, Entering entering = Entering::Same,
                         Leaving leaving = Leaving::Same) {
  CollectiveForm form;
  form.combine = combine;
  form.entering = entering;
  form.leaving = leaving;
  return form;
}

/// Makes a form in which a rank gets the whole operand of one member.
CollectiveForm whole(SourceRule source) {
  CollectiveForm form;
  form.source = source;
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

std::vector<OpRules> reductions() {
  return {
      over_dying_operand(collective(OpKind::Psum, "psum",
                                    "the sum over the group; pred is counted in s32", {},
                                    over_axes<psum_type>, GroupSizes::Any,
                                    reduction(Combine::Add, Entering::Counted, Leaving::Same),
                                    backward::psum, batching::psum)),
      timed_as(OpKind::Psum,
               over_dying_operand(collective(
                   OpKind::Pmean, "pmean",
                   "the sum over the group, divided by its size; f32 for integers, f64 for those "
                   "of 64 bits",
                   {}, pmean_type, GroupSizes::Any,
                   reduction(Combine::Add, Entering::Counted, Leaving::Mean), backward::pmean,
                   batching::pmean))),
      timed_as(OpKind::Psum, over_dying_operand(collective(
                                 OpKind::Pmax, "pmax", "the elementwise maximum over the group", {},
                                 over_axes<extremum_type>, GroupSizes::Any, reduction(Combine::Max),
                                 nullptr, batching::extremum))),
      timed_as(OpKind::Psum, over_dying_operand(collective(
                                 OpKind::Pmin, "pmin", "the elementwise minimum over the group", {},
                                 over_axes<extremum_type>, GroupSizes::Any, reduction(Combine::Min),
                                 nullptr, batching::extremum))),
      timed_as(OpKind::Psum,
               collective(OpKind::Pargmax, "pargmax",
                          "the lowest rank that has the elementwise maximum; 2147483647 where any "
                          "has a NaN",
                          {}, extremal_rank_type, GroupSizes::Any,
                          reduction(Combine::Max, Entering::Ranked, Leaving::ItsRank), nullptr,
                          batching::extremal_rank)),
      timed_as(OpKind::Psum,
               collective(OpKind::Pargmin, "pargmin",
                          "the lowest rank that has the elementwise minimum; 2147483647 where any "
                          "has a NaN",
                          {}, extremal_rank_type, GroupSizes::Any,
                          reduction(Combine::Min, Entering::Ranked, Leaving::ItsRank), nullptr,
                          batching::extremal_rank))};
}

std::vector<OpRules> exchanges() {
  return {
      collective(OpKind::AllGather, "all_gather",
                 "the operands of the group stacked along a new dimension, or tiled along an old",
                 {dimension("axis", Need::Optional), tiled(), gathered_to()},
                 over_axes<all_gather_type, gather_dimension_error>, GroupSizes::Equal,
                 parts(Combine::None, nullptr, gather_dimension), backward::all_gather,
                 batching::all_gather),
      collective(OpKind::PsumScatter, "psum_scatter",
                 "the sum over the group, each member keeping its own part of it",
                 {dimension("scatter_dimension", Need::Optional), tiled()},
                 over_axes<psum_scatter_type, scatter_dimension_error>, GroupSizes::Equal,
                 parts(Combine::Add, scatter_dimension, nullptr), backward::psum_scatter,
                 batching::psum_scatter),
      collective(OpKind::AllToAll, "all_to_all",
                 "part q of each operand goes to member q, which puts them side by side",
                 {dimension("split_axis", Need::Required), dimension("concat_axis", Need::Required),
                  tiled()},
                 all_to_all_type, GroupSizes::Equal,
                 parts(Combine::None, split_dimension, concat_dimension), backward::all_to_all,
                 batching::all_to_all),
      timed_as(OpKind::AllToAll,
               collective(OpKind::Pswapaxes, "pswapaxes",
                          "entry q of each operand goes to member q, which stacks them: mesh axis "
                          "and dimension change places",
                          {dimension("axis", Need::Required)}, pswapaxes_type, GroupSizes::Equal,
                          parts(Combine::None, swapped_dimension, swapped_dimension),
                          backward::pswapaxes, batching::pswapaxes)),
      collective(OpKind::Ppermute, "ppermute",
                 "each destination gets its source's operand, the others zeros",
                 {{"perm", ParameterKind::IntegerLists, Need::Required, {}, {}, {}, {}}},
                 ppermute_type, GroupSizes::Equal, whole(permuted_from), backward::ppermute,
                 batching::ppermute),
      timed_as(
          OpKind::Ppermute,
          collective(OpKind::Pshuffle, "pshuffle", "member q gets the operand of member perm[q]",
                     {{"perm", ParameterKind::Integers, Need::Required, {}, {}, {}, {}}},
                     pshuffle_type, GroupSizes::Equal, whole(shuffled_from), backward::pshuffle,
                     batching::pshuffle)),
      over_dying_operand(collective(
          OpKind::Pbroadcast, "pbroadcast", "every member gets the source's operand",
          {{"source", ParameterKind::Integer, Need::Required, {}, {}, {}, {}}}, pbroadcast_type,
          GroupSizes::Equal, whole(broadcast_from), backward::pbroadcast, batching::pbroadcast)),
      timed_as(
          OpKind::AllToAll,
          ragged(collective(
              OpKind::RaggedAllToAll, "ragged_all_to_all",
              "output, with slices of rows over it that the members send each other, of "
              "any sizes; `of` is [operand, output, input_offsets, send_sizes, output_offsets, "
              "recv_sizes]. It varies where any of them does, while JAX takes the type of output "
              "alone",
              {{"assume_sizes", ParameterKind::IntegerLists, Need::Optional, {}, {}, {}, {}},
               {"disjoint_reads", ParameterKind::Boolean, Need::Optional, false, {}, {}, {}}},
              ragged_all_to_all_type, GroupSizes::Equal, {}, backward::ragged_all_to_all,
              batching::ragged_all_to_all)))};
}

/// Returns the two halves of one exchange.
std::vector<OpRules> transfers() {
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
                     precv_type, GroupSizes::Equal, {}, backward::precv, batching::precv)));
  receive.least_operands = 0;
  receive.takes_tokens = true;
  return {
      timed_as(
          OpKind::Ppermute,
          half_of_transfer(
              Side::Sends,
              collective(
                  OpKind::Psend, "psend",
                  "each source sends its operand to its destination, where a precv takes it; the "
                  "result is a token",
                  {{"perm", ParameterKind::IntegerLists, Need::Required, {}, {}, {}, {}}},
                  psend_type, GroupSizes::Equal, {}, backward::psend, batching::psend))),
      receive};
}

/// Returns the same exchanges between other states of values.
std::vector<OpRules> between_other_states() {
  return {
      exchanging_as(OpKind::Psum, over_dying_operand(collective(
                                      OpKind::UnreducedPsum, "unreduced_psum",
                                      "psum of an unreduced operand: the sum that it stands for",
                                      {}, over_axes<unreduced_psum_type>, GroupSizes::Any,
                                      reduction(Combine::Add, Entering::Counted, Leaving::Same),
                                      backward::psum, batching::psum))),
      exchanging_as(OpKind::PsumScatter,
                    collective(OpKind::UnreducedPsumScatter, "unreduced_psum_scatter",
                               "psum_scatter of an unreduced operand",
                               {dimension("scatter_dimension", Need::Optional), tiled()},
                               over_axes<unreduced_psum_scatter_type, scatter_dimension_error>,
                               GroupSizes::Equal, parts(Combine::Add, scatter_dimension, nullptr),
                               backward::psum_scatter, batching::psum_scatter)),
      exchanging_as(OpKind::AllGather,
                    collective(OpKind::AllGatherInvariant, "all_gather_invariant",
                               "all_gather, whose result is invarying: equal on all ranks",
                               {dimension("axis", Need::Optional), tiled()},
                               over_axes<all_gather_invariant_type, gather_dimension_error>,
                               GroupSizes::Equal, parts(Combine::None, nullptr, gather_dimension),
                               backward::all_gather, batching::all_gather)),
      exchanging_as(
          OpKind::AllGather,
          collective(
              OpKind::AllGatherReduced, "all_gather_reduced",
              "all_gather, whose result is reduced: equal on all ranks, with cotangents that "
              "are addends",
              {dimension("axis", Need::Optional), tiled()},
              over_axes<all_gather_reduced_type, gather_dimension_error>, GroupSizes::Equal,
              parts(Combine::None, nullptr, gather_dimension), backward::all_gather,
              batching::all_gather))};
}

OpRules end_of_started() {
  OpRules end;
  end.kind = OpKind::Done;
  end.name = "done";
  end.summary = "waits for a started collective; its result is the collective's";
  end.family = Family::Done;
  end.type = done;
  end.memory = results_in_operands;
  end.takes_tokens = true;
  return end;
}

}  // namespace

bool over_no_axes(const Attributes& given) {
  return given.names("axis_name").empty();
}

std::vector<OpRules> collective_rules() {
  std::vector<OpRules> all = {end_of_started()};
  for (const auto group : {reductions, exchanges, transfers, between_other_states})
    for (OpRules& rules : group())
      all.push_back(std::move(rules));
  return all;
}

}  // namespace orrery
