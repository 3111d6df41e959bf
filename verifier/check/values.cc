#include "verifier/check/values.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "verifier/check/names.h"
#include "verifier/oracle/compare.h"
#include "verifier/oracle/definitions.h"

namespace orrery {

namespace {

/// A device's op at a site, and the value that holds the op's result.
struct Participation {
  const Op* op = nullptr;
  std::optional<ValueId> result;
};

/// By logical id.
std::vector<Participation> parts_of(const Program& program, const Site& site) {
  std::vector<Participation> parts(program.mesh.devices());
  for (const Thread& thread : program.threads) {
    Participation part;
    for (const OpId id : thread.issue_order) {
      const Op& op = program.op(id);
      if (std::find(site.ops.begin(), site.ops.end(), id) != site.ops.end()) {
        part.op = &op;
        if (op.issue == Issue::Sync)
          part.result = op.results.front();
      } else if (part.op != nullptr && op.kind == OpKind::Done &&
                 op.operands.front() == part.op->results.front()) {
        part.result = op.results.front();
      }
    }
    for (const LogicalId device : thread.devices)
      parts[device.index()] = part;
  }
  return parts;
}

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

std::optional<Check> values_match_definition(const Program& program, const Lowered& lowered,
                                             SiteId site, const DeviceValues& values) {
  const std::vector<Participation> parts = parts_of(program, program.site(site));
  const Op& named = program.op(program.site(site).ops.front());
  std::optional<Exactness> compared;
  for (const Collective& collective : lowered.collectives) {
    if (collective.site != site)
      continue;
    std::vector<const Tensor*> given;
    for (const LogicalId member : collective.members)
      given.push_back(&*values.at(parts[member.index()].op->operands.front(), member));
    const auto size = static_cast<uint32_t>(given.size());

    std::optional<Definition> last;  // members of an all-reduce share one result
    Tensor expected;
    for (uint32_t r = 0; r < size; ++r) {
      const LogicalId member = collective.members[r];
      const Participation& part = parts[member.index()];
      if (!part.result)
        continue;
      const Tensor& got = *values.at(*part.result, member);
      Definition definition = define(*part.op, given[r]->shape(), size, Rank(r));
      if (!last || *last != definition) {
        const ValueType& type = program.value(*part.result).type;
        expected = apply(definition, given, type.dtype, type.shape);
        compared = exactness(definition, given[r]->dtype());
        last = std::move(definition);
      }
      if (const auto mismatch = first_mismatch(*last, given, expected, got))
        return differs(*part.op, member, *mismatch);
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
