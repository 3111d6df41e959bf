#include "tests/oracle/coverage.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "models/array/dtype.h"
#include "models/program/rules.h"

namespace orrery::test {

namespace {

std::vector<std::string> forms_of(const Op& op) {
  if (rules(op.kind).family != Family::Collective)
    return {"local"};
  std::vector<std::string> forms = {op.issue == Issue::Start ? "started" : "sync"};
  const size_t axes = op.attributes.names("axis_name").size();
  forms.emplace_back(axes == 0 ? "no axes" : axes == 1 ? "one axis" : "several axes");
  if (axes == 0)
    return forms;
  if (op.attributes.has("axis_index_groups")) {
    std::set<size_t> sizes;
    for (const std::vector<int64_t>& group : op.attributes.lists("axis_index_groups"))
      sizes.insert(group.size());
    forms.emplace_back(sizes.size() == 1 ? "equal groups" : "unequal groups");
  } else {
    forms.emplace_back("all ranks");
  }
  if (op.attributes.has("tiled"))
    forms.emplace_back(op.attributes.boolean("tiled") ? "tiled" : "untiled");
  return forms;
}

/// By which an op counts: the first operand's that it works on, or without operands its result's.
Dtype dtype_of(const Program& program, const Op& op) {
  if (op.operands.empty())
    return program.value(op.results.front()).type.dtype;
  const size_t first = op.kind == OpKind::SelectN ? 1 : 0;
  return program.value(op.operands[first]).type.dtype;
}

}  // namespace

void Coverage::add(const Program& program) {
  for (const Op& op : program.ops)
    if (op.kind != OpKind::Done)
      for (std::string& form : forms_of(op))
        ++cells_[{{op.kind, std::move(form)}, dtype_of(program, op)}];
}

uint64_t Coverage::least() const {
  return std::min_element(cells_.begin(), cells_.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->second;
}

std::string Coverage::table() const {
  std::string text = fmt::format("{:22}{:16}", "op", "form");
  for (const Dtype dtype : all_dtypes())
    text += fmt::format("{:>10}", name(dtype));
  const Row* last = nullptr;
  for (const auto& [cell, count] : cells_) {
    if (last != nullptr && *last == cell.first)
      continue;
    last = &cell.first;
    text += fmt::format("\n{:22}{:16}", rules(last->op).name, last->form);
    for (const Dtype dtype : all_dtypes()) {
      const auto found = cells_.find({*last, dtype});
      text += fmt::format("{:>10}", found == cells_.end() ? "-" : std::to_string(found->second));
    }
  }
  return text + fmt::format("\n{} cells; the least count is {}.\n", cells(), least());
}

}  // namespace orrery::test
