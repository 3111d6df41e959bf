#include "verifier/check/values.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/program/futures.h"
#include "models/program/rules.h"
#include "verifier/check/names.h"
#include "verifier/oracle/compare.h"
#include "verifier/oracle/definitions.h"

namespace orrery {

namespace {

Check differs(const Op& op, LogicalId device, const Mismatch& mismatch) {
  std::string bound;
  if (mismatch.bound)
    bound =
        fmt::format(", and the roundings of both allow a difference of {:.3g}", *mismatch.bound);
  return failed(CheckKind::ValuesOracle, pointer_of(op),
                fmt::format("{} on device {} has {} at element {}; {} of its operands is {}{}.",
                            quoted(op.name), device.index(), mismatch.got, mismatch.element,
                            rules(op.kind).name, mismatch.expected, bound),
                {{"op", op.name},
                 {"device", std::to_string(device.index())},
                 {"element", std::to_string(mismatch.element)},
                 {"expected", mismatch.expected},
                 {"got", mismatch.got}});
}

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
    if (const Op& op = program.ops[i]; op.site)
      if (const std::vector<ValueId> results = futures.results(op); !results.empty())
        result_of_[i] = results.back();
  for (size_t c = 0; c < lowered.collectives.size(); ++c)
    collectives_of_[lowered.collectives[c].site.index()].emplace_back(c);
}

std::optional<Check> ValuesAgainstDefinitions::check(SiteId site) const {
  const Op& named = program_.op(program_.site(site).ops.front());
  std::optional<Exactness> compared;
  for (const CollectiveId id : collectives_of_[site.index()]) {
    const Collective& collective = lowered_.collective(id);
    const auto size = static_cast<uint32_t>(collective.members.size());
    std::vector<const Tensor*> given;
    for (uint32_t r = 0; r < size; ++r)
      given.push_back(&*values_.at(program_.op(lists_.op(id, Node(r))).operands.front(),
                                   collective.members[r]));

    std::optional<Definition> last;  // members of an all-reduce share one result
    Tensor expected;
    for (uint32_t r = 0; r < size; ++r) {
      const LogicalId member = collective.members[r];
      const OpId own = lists_.op(id, Node(r));
      const std::optional<ValueId> result = result_of_[own.index()];
      if (!result)
        continue;
      const Op& op = program_.op(own);
      const Tensor& got = *values_.at(*result, member);
      Definition definition = define(op, given[r]->shape(), size, Rank(r));
      if (!last || *last != definition) {
        const ValueType& type = program_.value(*result).type;
        expected = apply(definition, given, type.dtype, type.shape);
        compared = exactness(definition, given[r]->dtype());
        last = std::move(definition);
      }
      if (const auto mismatch = first_mismatch(*last, given, expected, got))
        return differs(op, member, *mismatch);
    }
  }
  if (!compared)
    return std::nullopt;
  return passed(
      CheckKind::ValuesOracle, pointer_of(named),
      fmt::format(
          "{} is {} of its operands, {}.", quoted(named.name), rules(named.kind).name,
          *compared == Exactness::Bitwise ? "bit for bit" : "within the roundings of its sums"));
}

}  // namespace orrery
