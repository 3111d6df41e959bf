#include "verifier/check/values.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/array/work.h"
#include "models/program/collective_types.h"
#include "models/program/futures.h"
#include "models/program/op_rules.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "simulator/values/exchanged_operand.h"
#include "simulator/values/fold_values.h"
#include "verifier/check/names.h"
#include "verifier/oracle/compare.h"
#include "verifier/oracle/definitions.h"

namespace orrery {

namespace {

/// How closely a site's results were compared; each is less close than those before it.
enum class Closeness : uint8_t { Exact, InOrder, WithinBounds };

std::string_view text(Closeness closeness) {
  switch (closeness) {
    case Closeness::Exact:
      return "bit for bit";
    case Closeness::InOrder:
      return "bit for bit, in the order of its schedule";
    case Closeness::WithinBounds:
      break;
  }
  return "within the roundings of its sums";
}

/// A member of a group that has a result.
struct MemberValues {
  Rank rank;
  LogicalId device;
  const Op& op;
  const ValueType& type;
  const Tensor& got;
  Definition definition;
};

struct GroupValues {
  const Collective& collective;
  Folding folding;
  const std::vector<const Tensor*>& given;  // what each rank exchanges
  std::vector<MemberValues> members;        // ascending
};

/// A member's result that differs.
struct Found {
  const MemberValues* member;
  Mismatch mismatch;
};

struct Compared {
  std::optional<Found> wrong;
  std::optional<Found> undecided;
};

std::string differs_text(const Found& found) {
  const Mismatch& mismatch = found.mismatch;
  return fmt::format("{} on device {} has {} at element {}; {} of its operands is {}",
                     quoted(found.member->op.name), found.member->device.index(), mismatch.got,
                     mismatch.element, rules(found.member->op.kind).name, mismatch.expected);
}

Witness witness(const Found& found) {
  return {{"op", found.member->op.name},
          {"device", std::to_string(found.member->device.index())},
          {"element", std::to_string(found.mismatch.element)},
          {"expected", found.mismatch.expected},
          {"got", found.mismatch.got}};
}

Check differs(const Found& found) {
  std::string bound;
  if (found.mismatch.bound)
    bound =
        ", and the roundings of both allow " + allowed_text(Verdict::Fails, *found.mismatch.bound);
  return failed(CheckKind::ValuesOracle, pointer_of(found.member->op),
                differs_text(found) + bound + ".", witness(found));
}

Check is_undecided(const Found& found) {
  return undecided(
      CheckKind::ValuesOracle, pointer_of(found.member->op),
      fmt::format("{}. The order of its sums is not known, since its schedule is not proved, and "
                  "roundings in any order allow {}.",
                  differs_text(found), allowed_text(Verdict::Undecided, *found.mismatch.bound)),
      witness(found));
}

/// Compares with folds in rank order, as definitions have them. Members of an all-reduce share one
/// expected result.
Compared compare_in_rank_order(const GroupValues& group) {
  Compared compared;
  const Definition* last = nullptr;
  Tensor expected;
  for (const MemberValues& member : group.members) {
    if (last == nullptr || *last != member.definition) {
      expected = apply(member.definition, group.given, member.type.dtype, member.type.shape,
                       group.folding.numerics);
      last = &member.definition;
    }
    Differences found =
        differences(member.definition, group.given, expected, member.got, group.folding.numerics);
    if (found.wrong)
      return {Found{&member, std::move(*found.wrong)}, std::nullopt};
    if (found.undecided && !compared.undecided)
      compared.undecided = Found{&member, std::move(*found.undecided)};
  }
  return compared;
}

/// A copy of the elements in the canonical order of the view.
Storage canonical(const View& view, size_t item, const std::byte* elements) {
  Storage ordered(static_cast<size_t>(view.elements()) * item);
  view.for_each_run(0, view.elements(), [&](int64_t to, int64_t from, int64_t count) {
    std::memcpy(ordered.data() + static_cast<size_t>(to) * item,
                elements + static_cast<size_t>(from) * item, static_cast<size_t>(count) * item);
  });
  return ordered;
}

/// The operand of a rank as it is held and in canonical order; empty if that is the tensor itself.
std::optional<Storage> held(const GroupValues& group, const Tensor& operand, Rank rank) {
  std::optional<Storage> entered;
  if (group.folding.numerics != Numerics::Ieee)
    entered = enter(Entering::Same, group.folding, operand, rank);
  const View& view = group.collective.input;
  if (view.contiguous())
    return entered;
  return canonical(view, static_cast<size_t>(itemsize(group.folding.held).count()),
                   entered ? entered->data() : operand.bytes().data());
}

/// Compares results with the values of their folds. Requires a definition that depends on the
/// order: work elements are then the operands' own, and results their folds or means of these.
class InOrderComparison {
 public:
  InOrderComparison(const GroupValues& group, const ProvenanceRun& folds)
      : group_(group), folds_(folds), member_of_(group.given.size()) {
    for (const MemberValues& member : group.members)
      member_of_[member.rank.index()] = &member;
  }

  Compared compare() {
    std::vector<std::optional<Storage>> owned;
    std::vector<const std::byte*> operands;
    for (size_t r = 0; r < group_.given.size(); ++r) {
      const auto& own = owned.emplace_back(held(group_, *group_.given[r], Rank(r)));
      operands.push_back(own ? own->data() : group_.given[r]->bytes().data());
    }
    // Results that nobody has need not be computed.
    std::vector<Pieces> results(folds_.outputs);
    for (size_t r = 0; r < results.size(); ++r)
      if (member_of_[r] == nullptr)
        results[r].clear();
    for_each_fold_value(folds_.folds, results, group_.folding, operands,
                        [&](Rank rank, int64_t first, const std::byte* values, int64_t count) {
                          compare(*member_of_[rank.index()], first, values, count);
                        });
    return {std::move(lowest_), std::nullopt};
  }

 private:
  /// Compares the canonical elements [first, first + count) of a member's result.
  void compare(const MemberValues& member, int64_t first, const std::byte* values, int64_t count) {
    const Dtype dtype = member.got.dtype();
    const WorkType type = group_.folding.held;
    std::optional<Tensor> given;  // where the folds are not the results themselves
    if (member.definition.leaving == Leaving::Mean || type.dtype != dtype) {
      Storage folds(static_cast<size_t>((itemsize(type) * count).count()));
      std::memcpy(folds.data(), values, folds.size());
      given = convert(Tensor(type.dtype, Shape({count}), std::move(folds)), dtype);
      if (member.definition.leaving == Leaving::Mean)
        given = mean(*given, static_cast<int64_t>(group_.given.size()), group_.folding.numerics);
      values = given->bytes().data();
    }
    const auto item = static_cast<size_t>(itemsize(dtype).count());
    const std::byte* const got = member.got.bytes().data();
    group_.collective.output.for_each_run(
        first, count, [&](int64_t from, int64_t element, int64_t length) {
          const std::byte* const want = values + static_cast<size_t>(from - first) * item;
          const std::byte* const have = got + static_cast<size_t>(element) * item;
          if (const auto different = first_different(dtype, want, have, length))
            note(member, element + *different, want + static_cast<size_t>(*different) * item);
        });
  }

  void note(const MemberValues& member, int64_t element, const std::byte* want) {
    if (lowest_ && std::pair(lowest_->member->rank, lowest_->mismatch.element) <=
                       std::pair(member.rank, element))
      return;
    Tensor expected(member.got.dtype(), Shape());
    std::memcpy(expected.bytes().data(), want, expected.bytes().size());
    lowest_ =
        Found{&member, {element, element_text(expected, 0), element_text(member.got, element), {}}};
  }

  const GroupValues& group_;
  const ProvenanceRun& folds_;
  std::vector<const MemberValues*> member_of_;  // by rank; null without a result
  std::optional<Found> lowest_;                 // by rank and element
};

}  // namespace

ValuesAgainstDefinitions::ValuesAgainstDefinitions(const Program& program, const Lowered& lowered,
                                                   const DeviceValues& values)
    : program_(program),
      lowered_(lowered),
      values_(values),
      lists_(program, lowered),
      result_of_(program.ops.size()),
      collectives_of_(program.sites.size()) {
  const Futures futures(program);
  for (size_t i = 0; i < program.ops.size(); ++i)
    if (program.ops[i].site)
      result_of_[i] = futures.result(program.ops[i]);
  for (size_t c = 0; c < lowered.collectives.size(); ++c)
    collectives_of_[lowered.collectives[c].site.index()].emplace_back(c);
}

std::optional<Check> ValuesAgainstDefinitions::other_tables(const Collective& collective,
                                                            CollectiveId id,
                                                            const RaggedGroup& tables) const {
  for (uint32_t r = 0; r < collective.members.size(); ++r) {
    const Op& op = program_.op(lists_.op(id, Node(r)));
    const LogicalId device = collective.members[r];
    std::vector<const Tensor*> operands;
    for (size_t k = kRaggedTables.first; k < kRaggedTables.end; ++k)
      operands.push_back(&*values_.at(op.operands[k], device));
    if (slice_tables(operands) != tables.ranks[r])
      return failed(CheckKind::TablesAgreed, pointer_of(op),
                    fmt::format("The tables of {} on device {} are not those by which it was "
                                "scheduled: sums of floats on which they depend were rounded in "
                                "another order.",
                                quoted(op.name), device.index()),
                    {{"op", op.name}, {"device", std::to_string(device.index())}});
  }
  return std::nullopt;
}

std::optional<Check> ValuesAgainstDefinitions::check(SiteId site, ProvedFolds proved_folds) const {
  const Op& named = program_.op(program_.site(site).ops.front());
  std::optional<Closeness> closeness;
  std::optional<Check> open;  // the first that is undecided
  for (const CollectiveId id : collectives_of_[site.index()]) {
    const Collective& collective = lowered_.collective(id);
    const auto size = static_cast<uint32_t>(collective.members.size());
    const auto op_of = [&](size_t r) { return &program_.op(lists_.op(id, Node(r))); };
    const auto value_of = [&](size_t r, ValueId operand) -> const Tensor* {
      const std::optional<Tensor>& value = values_.at(operand, collective.members[r]);
      return value ? &*value : nullptr;
    };
    const GroupOperands operands(program_, named, size,
                                 exchanged_types(program_, named).operand.dtype, op_of, value_of);
    GroupValues group{
        collective, op_folding(program_, named, collective.work), operands.tensors(), {}};
    const RaggedGroup* const tables = tables_of(lowered_, collective);
    if (tables != nullptr && !lowered_.tables.at(site)->assumed)
      if (auto other = other_tables(collective, id, *tables))
        return other;
    for (uint32_t r = 0; r < size; ++r) {
      const OpId own = lists_.op(id, Node(r));
      const std::optional<ValueId> result = result_of_[own.index()];
      const Op& op = program_.op(own);
      if (!result || !takes_result(op))
        continue;
      const LogicalId device = collective.members[r];
      group.members.push_back({Rank(r), device, op, program_.value(*result).type,
                               *values_.at(*result, device),
                               define(op, group.given[r]->shape(), size, Rank(r), tables)});
    }
    if (group.members.empty())
      continue;

    const bool ordered = depends_on_order(group.members.front().definition,
                                          group.given.front()->dtype(), group.folding.numerics);
    const ProvenanceRun* const folds = ordered ? proved_folds(named, collective) : nullptr;
    Compared compared = folds != nullptr ? InOrderComparison(group, *folds).compare()
                                         : compare_in_rank_order(group);
    if (compared.wrong)
      return differs(*compared.wrong);
    if (compared.undecided && !open)
      open = is_undecided(*compared.undecided);
    const Closeness own = !ordered           ? Closeness::Exact
                          : folds != nullptr ? Closeness::InOrder
                                             : Closeness::WithinBounds;
    closeness = std::max(closeness.value_or(own), own);
  }
  if (open)
    return open;
  if (!closeness)
    return std::nullopt;
  return passed(CheckKind::ValuesOracle, pointer_of(named),
                fmt::format("{} is {} of its operands, {}.", quoted(named.name),
                            rules(named.kind).name, text(*closeness)),
                *closeness == Closeness::WithinBounds
                    ? "The order of these is not known, since its schedule is not proved."
                    : "");
}

}  // namespace orrery
