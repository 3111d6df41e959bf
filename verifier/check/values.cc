#include "verifier/check/values.h"

#include <algorithm>
#include <cstring>
#include <memory>
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
#include "verifier/definition/compare.h"
#include "verifier/definition/definitions.h"

namespace orrery {

namespace {

/// Says how closely a site's results were compared; each value is less close than those before it.
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

/// This is a member that has a result which is compared.
struct DefinedMember {
  Rank rank;
  const Op* op;
  std::shared_ptr<const Definition> definition;  // equal ones of neighbours are one
};

/// This is one run of a group.
struct GroupRun {
  const Collective& collective;
  const Folding& folding;
  const std::vector<DefinedMember>& members;  // ascending
  const std::vector<const Tensor*>& given;    // what each rank exchanges
  std::span<const EndedMember> of_ranks;

  const Tensor& got(const DefinedMember& member) const {
    return *of_ranks[member.rank.index()].result;
  }
};

/// This is a member's result that differs.
struct DifferentResult {
  const DefinedMember* member;
  Mismatch mismatch;
};

struct Compared {
  std::optional<DifferentResult> wrong;
  std::optional<DifferentResult> undecided;
};

/// This is a member in one iteration, as checks name it.
struct Named {
  Op op;
  LogicalId device;
};

std::string differs_text(const Named& member, const Mismatch& mismatch) {
  return fmt::format("{} on device {} has {} at element {}; {} of its operands is {}",
                     quoted(member.op.name), member.device.index(), mismatch.got, mismatch.element,
                     rules(member.op.kind).name, mismatch.expected);
}

Witness witness(const Named& member, const Mismatch& mismatch) {
  return {{"op", member.op.name},
          {"device", std::to_string(member.device.index())},
          {"element", std::to_string(mismatch.element)},
          {"expected", mismatch.expected},
          {"got", mismatch.got}};
}

Check differs(const Named& member, const Mismatch& mismatch) {
  std::string bound;
  if (mismatch.bound)
    bound = ", and the roundings of both allow " + allowed_text(Verdict::Fails, *mismatch.bound);
  return failed(CheckKind::ValuesOracle, pointer_of(member.op),
                differs_text(member, mismatch) + bound + ".", witness(member, mismatch));
}

Check is_undecided(const Named& member, const Mismatch& mismatch) {
  return undecided(
      CheckKind::ValuesOracle, pointer_of(member.op),
      fmt::format("{}. The order of its sums is not known, since its schedule is not proved, and "
                  "roundings in any order allow {}.",
                  differs_text(member, mismatch),
                  allowed_text(Verdict::Undecided, *mismatch.bound)),
      witness(member, mismatch));
}

/// Compares with folds in rank order, as definitions have them. Members of an all-reduce share one
/// expected result.
Compared compare_in_rank_order(const GroupRun& run) {
  Compared compared;
  const Definition* last = nullptr;
  Tensor expected;
  for (const DefinedMember& member : run.members) {
    const Definition& definition = *member.definition;
    const Tensor& got = run.got(member);
    if (last != &definition) {
      expected = apply(definition, run.given, got.dtype(), got.shape(), run.folding.numerics);
      last = &definition;
    }
    Differences found = differences(definition, run.given, expected, got, run.folding.numerics);
    if (found.wrong)
      return {DifferentResult{&member, std::move(*found.wrong)}, std::nullopt};
    if (found.undecided && !compared.undecided)
      compared.undecided = DifferentResult{&member, std::move(*found.undecided)};
  }
  return compared;
}

/// Returns a copy of the elements in the canonical order of the view.
Storage canonical(const View& view, size_t item, const std::byte* elements) {
  Storage ordered(static_cast<size_t>(view.elements()) * item);
  view.for_each_run(0, view.elements(), [&](int64_t to, int64_t from, int64_t count) {
    std::memcpy(ordered.data() + static_cast<size_t>(to) * item,
                elements + static_cast<size_t>(from) * item, static_cast<size_t>(count) * item);
  });
  return ordered;
}

/// Returns the operand of a rank as it is held and in canonical order. The result is empty if that
/// is the tensor itself.
std::optional<Storage> held(const GroupRun& run, const Tensor& operand, Rank rank) {
  std::optional<Storage> entered;
  if (run.folding.numerics != Numerics::Ieee)
    entered = enter(Entering::Same, run.folding, operand, rank);
  const View& view = run.collective.input;
  if (view.contiguous())
    return entered;
  return canonical(view, static_cast<size_t>(itemsize(run.folding.held).count()),
                   entered ? entered->data() : operand.bytes().data());
}

/// Compares results with the values of their folds. Requires a definition that depends on the
/// order. Then work elements are the operands' own, and results are folds of them or means of the
/// folds.
class InOrderComparison {
 public:
  explicit InOrderComparison(const GroupRun& run) : run_(run), member_of_(run.given.size()) {
    for (const DefinedMember& member : run.members)
      member_of_[member.rank.index()] = &member;
  }

  /// `visit_values(operands, visit)` visits the values of the folds.
  template <class VisitValues>
  Compared compare(VisitValues&& visit_values) {
    std::vector<Storage> owned;
    std::vector<const std::byte*> operands;
    operands.reserve(run_.given.size());
    for (size_t r = 0; r < run_.given.size(); ++r) {
      operands.push_back(run_.given[r]->bytes().data());
      if (std::optional<Storage> own = held(run_, *run_.given[r], Rank(r)))
        operands.back() = owned.emplace_back(std::move(*own)).data();
    }
    visit_values(operands, [&](Rank rank, int64_t first, const std::byte* values, int64_t count) {
      compare(*member_of_[rank.index()], first, values, count);
    });
    return {std::move(lowest_), std::nullopt};
  }

 private:
  /// Compares the canonical elements [first, first + count) of a member's result.
  void compare(const DefinedMember& member, int64_t first, const std::byte* values, int64_t count) {
    const Tensor& result = run_.got(member);
    const Dtype dtype = result.dtype();
    const WorkType type = run_.folding.held;
    std::optional<Tensor> given;  // where the folds are not the results themselves
    if (member.definition->leaving == Leaving::Mean || type.dtype != dtype) {
      Storage folds(static_cast<size_t>((itemsize(type) * count).count()));
      std::memcpy(folds.data(), values, folds.size());
      given = convert(Tensor(type.dtype, Shape({count}), std::move(folds)), dtype);
      if (member.definition->leaving == Leaving::Mean)
        given = mean(*given, static_cast<int64_t>(run_.given.size()), run_.folding.numerics);
      values = given->bytes().data();
    }
    const auto item = static_cast<size_t>(itemsize(dtype).count());
    const std::byte* const got = result.bytes().data();
    run_.collective.output.for_each_run(
        first, count, [&](int64_t from, int64_t element, int64_t length) {
          const std::byte* const want = values + static_cast<size_t>(from - first) * item;
          const std::byte* const have = got + static_cast<size_t>(element) * item;
          if (const auto different = first_different(dtype, want, have, length))
            note(member, element + *different, want + static_cast<size_t>(*different) * item);
        });
  }

  void note(const DefinedMember& member, int64_t element, const std::byte* want) {
    if (lowest_ && std::pair(lowest_->member->rank, lowest_->mismatch.element) <=
                       std::pair(member.rank, element))
      return;
    const Tensor& got = run_.got(member);
    Tensor expected(got.dtype(), Shape());
    std::memcpy(expected.bytes().data(), want, expected.bytes().size());
    lowest_ = DifferentResult{&member,
                              {element, element_text(expected, 0), element_text(got, element), {}}};
  }

  const GroupRun& run_;
  std::vector<const DefinedMember*> member_of_;  // by rank; null without a result
  std::optional<DifferentResult> lowest_;        // by rank and element
};

/// Returns the first member that has other tables than those by which the collective was scheduled.
std::optional<Rank> with_other_tables(const EndedRun& run, const RaggedGroup& tables) {
  for (uint32_t r = 0; r < run.members.size(); ++r) {
    std::vector<const Tensor*> operands;
    for (size_t k = kRaggedTables.first; k < kRaggedTables.end; ++k)
      operands.push_back(run.members[r].operands[k].get());
    if (slice_tables(operands) != tables.ranks[r])
      return Rank(r);
  }
  return std::nullopt;
}

Check has_other_tables(const Named& member) {
  return failed(CheckKind::TablesAgreed, pointer_of(member.op),
                fmt::format("The tables of {} on device {} are not those by which it was "
                            "scheduled: sums of floats on which they depend were rounded in "
                            "another order.",
                            quoted(member.op.name), member.device.index()),
                {{"op", member.op.name}, {"device", std::to_string(member.device.index())}});
}

/// Returns the tensor that a member gives as this operand; null if it has none.
const Tensor* operand_of(const EndedMember& member, const Op& op, ValueId operand) {
  const auto at = std::find(op.operands.begin(), op.operands.end(), operand);
  return member.operands[static_cast<size_t>(at - op.operands.begin())].get();
}

}  // namespace

/// Has what all runs of a collective have in common.
struct ValuesAgainstDefinitions::Group {
  const Collective& collective;
  const Op& named;  // any op of the site
  Folding folding;
  const RaggedGroup* tables;  // with which those of the run are compared; null: none
  std::vector<DefinedMember> members;
  const ProvenanceRun* folds = nullptr;
  std::vector<Pieces> results = {};         // of the folds; none of ranks that are not compared
  std::unique_ptr<FoldValues> values = {};  // of a collective that runs again
  Closeness closeness = Closeness::Exact;
};

/// This is the outcome of the runs of a site's collectives so far.
struct ValuesAgainstDefinitions::OfSite {
  /// Among several checks, the one of the first iteration is kept, and in it that of the first
  /// group.
  struct First {
    uint64_t iteration;
    CollectiveId collective;
    Check check;

    bool is_before(CollectiveRun run) const {
      return std::pair(iteration, collective) < std::pair(run.iteration, run.collective);
    }
  };
  std::optional<Closeness> closeness = {};
  std::optional<First> failed = {};
  std::optional<First> open = {};  // undecided
};

ValuesAgainstDefinitions::ValuesAgainstDefinitions(const Program& program, const Lowered& lowered,
                                                   ProvedFolds proved_folds)
    : program_(program),
      lowered_(lowered),
      proved_folds_(std::move(proved_folds)),
      is_ended_(program.ops.size()),
      groups_(lowered.collectives.size()),
      sites_(program.sites.size()) {
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (op.issue == Issue::Sync)
      is_ended_[i] = true;
    if (op.kind == OpKind::Done)
      for (const OpId start : lowered.iterations->makers(op.operands.front()))
        is_ended_[start.index()] = true;
  }
}

ValuesAgainstDefinitions::~ValuesAgainstDefinitions() = default;

std::unique_ptr<ValuesAgainstDefinitions::Group> ValuesAgainstDefinitions::make_group(
    const EndedRun& run) const {
  const Collective& collective = lowered_.collective(run.run.collective);
  const Op& named = program_.op(program_.site(collective.site).ops.front());
  const RaggedGroup* const tables = tables_of(lowered_, collective);
  const bool assumed = tables == nullptr || lowered_.tables.at(collective.site)->assumed;
  auto group = std::make_unique<Group>(Group{collective,
                                             named,
                                             op_folding(program_, named, collective.work),
                                             assumed ? nullptr : tables,
                                             {}});
  const ValueType given = exchanged_operand(program_, named);
  const auto size = static_cast<uint32_t>(run.members.size());
  Definitions definitions(named, given.shape, size, tables);
  group->members.reserve(size);
  for (uint32_t r = 0; r < size; ++r) {
    const OpId id = run.members[r].op;
    const Op& op = program_.op(id);
    if (is_ended_[id.index()] && takes_result(op))
      group->members.push_back({Rank(r), &op, definitions.of(Rank(r))});
  }
  if (group->members.empty() ||
      !depends_on_order(*group->members.front().definition, given.dtype, group->folding.numerics))
    return group;
  group->folds = proved_folds_(named, collective);
  group->closeness = group->folds != nullptr ? Closeness::InOrder : Closeness::WithinBounds;
  if (group->folds == nullptr)
    return group;
  // Results that nobody compares need not be computed.
  group->results.resize(group->folds->outputs.size());
  for (const DefinedMember& member : group->members)
    group->results[member.rank.index()] = group->folds->outputs[member.rank.index()];
  return group;
}

void ValuesAgainstDefinitions::compare(Group& group, const EndedRun& run, OfSite& site) const {
  const auto named = [&](Rank rank) {
    const EndedMember& member = run.members[rank.index()];
    Named of_run{program_.op(member.op), member.device};
    of_run.op.name = lowered_.iterations->name(
        of_run.op.name, lowered_.iterations->loop_of(member.op), run.run.iteration);
    return of_run;
  };
  const auto first = [&](Check check) {
    return OfSite::First{run.run.iteration, run.run.collective, std::move(check)};
  };
  if (group.tables != nullptr)
    if (const std::optional<Rank> other = with_other_tables(run, *group.tables)) {
      site.failed = first(has_other_tables(named(*other)));
      return;
    }
  if (group.members.empty())
    return;
  site.closeness = std::max(site.closeness.value_or(group.closeness), group.closeness);
  const auto op_of = [&](size_t r) { return &program_.op(run.members[r].op); };
  const auto value_of = [&](size_t r, ValueId operand) {
    return operand_of(run.members[r], *op_of(r), operand);
  };
  const GroupOperands operands(program_, group.named, run.members.size(),
                               exchanged_operand(program_, group.named).dtype, op_of, value_of);
  const GroupRun compared_run{group.collective, group.folding, group.members, operands.tensors(),
                              run.members};
  const auto visit_values = [&](std::span<const std::byte* const> given, VisitFoldValues visit) {
    if (group.values)
      group.values->for_each(given, visit);
    else
      for_each_fold_value(group.folds->folds, group.results, group.folding, given, visit);
  };
  const Compared compared = group.folds != nullptr
                                ? InOrderComparison(compared_run).compare(visit_values)
                                : compare_in_rank_order(compared_run);
  if (compared.wrong)
    site.failed = first(differs(named(compared.wrong->member->rank), compared.wrong->mismatch));
  else if (compared.undecided && !(site.open && site.open->is_before(run.run)))
    site.open =
        first(is_undecided(named(compared.undecided->member->rank), compared.undecided->mismatch));
}

void ValuesAgainstDefinitions::add(const EndedRun& run) {
  OfSite& site = sites_[lowered_.collective(run.run.collective).site.index()];
  if (site.failed && site.failed->is_before(run.run))
    return;
  std::unique_ptr<Group>& kept = groups_[run.run.collective.index()];
  std::unique_ptr<Group> group = kept ? std::move(kept) : make_group(run);
  compare(*group, run, site);
  if (lowered_.iterations->runs(run.members.front().op) == 1)
    return;
  if (group->folds != nullptr && !group->values)
    group->values =
        std::make_unique<FoldValues>(group->folds->folds, group->results, group->folding);
  kept = std::move(group);
}

void ValuesAgainstDefinitions::add(const DeviceValues& values) {
  const ProgramLists lists(program_, lowered_);
  const Futures futures(program_);
  const auto unowned = [&](ValueId value, LogicalId device) {
    const std::optional<Tensor>& tensor = values.at(value, device);
    return SharedTensor(SharedTensor(), tensor ? &*tensor : nullptr);
  };
  for (size_t c = 0; c < lowered_.collectives.size(); ++c) {
    const CollectiveId id(c);
    const Collective& collective = lowered_.collective(id);
    std::vector<EndedMember> members;
    for (uint32_t r = 0; r < collective.members.size(); ++r) {
      EndedMember& member = members.emplace_back();
      member.op = lists.op(id, Node(r));
      member.device = collective.members[r];
      const Op& op = program_.op(member.op);
      for (const ValueId operand : op.operands)
        member.operands.push_back(unowned(operand, member.device));
      if (const std::optional<ValueId> result = futures.result(op))
        member.result = unowned(*result, member.device);
    }
    add(EndedRun{{id, 0}, members});
  }
}

std::optional<Check> ValuesAgainstDefinitions::check(SiteId site) const {
  const OfSite& of = sites_[site.index()];
  if (of.failed)
    return of.failed->check;
  if (of.open)
    return of.open->check;
  if (!of.closeness)
    return std::nullopt;
  const Op& named = program_.op(program_.site(site).ops.front());
  return passed(CheckKind::ValuesOracle, pointer_of(named),
                fmt::format("{} is {} of its operands, {}.", quoted(named.name),
                            rules(named.kind).name, text(*of.closeness)),
                *of.closeness == Closeness::WithinBounds
                    ? "The order of these is not known, since its schedule is not proved."
                    : "");
}

std::vector<Check> ValuesAgainstDefinitions::checks() const {
  std::vector<Check> checks;
  for (size_t s = 0; s < sites_.size(); ++s)
    if (std::optional<Check> of_site = check(SiteId(s)))
      checks.push_back(std::move(*of_site));
  return checks;
}

}  // namespace orrery
