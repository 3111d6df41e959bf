#include "tools/report/op_entries.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "models/program/folded.h"
#include "models/program/loops.h"
#include "verifier/expect/expect.h"

namespace orrery {

namespace {

/// Per value: whether the scenario's outputs or expectations name it.
std::vector<bool> named_values(const Scenario& scenario) {
  const Program& program = scenario.program;
  std::vector<bool> named(program.values.size(), false);
  for (const ValueId output : program.outputs)
    named[output.index()] = true;
  std::set<std::string> names;
  for (const Expectation& expectation : scenario.expectations)
    for (ComparedValue& value : compared_values(expectation))
      names.insert(std::move(value.name));
  for (size_t v = 0; v < named.size() && !names.empty(); ++v)
    if (names.count(program.values[v].name) > 0)
      named[v] = true;
  return named;
}

void find_named(const Scenario& scenario, std::vector<OpEntry>& entries) {
  const std::vector<bool> named = named_values(scenario);
  for (OpEntry& entry : entries)
    for (size_t run = 1; run + 1 < entry.runs.size(); ++run) {
      const std::vector<ValueId>& results = scenario.program.op(entry.runs[run]->op).results;
      if (std::any_of(results.begin(), results.end(),
                      [&](ValueId value) { return named[value.index()]; }))
        entry.named.push_back(entry.runs[run]);
    }
}

}  // namespace

std::vector<OpEntry> op_entries(const Report& report) {
  const Program& program = report.scenario->program;
  const std::vector<NameInLoops> in_loops = names_in_loops(program);
  const std::vector<uint64_t> times = repetitions(program);
  std::vector<OpEntry> entries;
  std::map<std::string_view, size_t> entry_of;  // by id: ops of loops
  size_t next = 0;  // the report's ops are those of the threads in order
  for (size_t t = 0; t < program.threads.size(); ++t) {
    for (size_t i = 0; i < program.threads[t].issue_order.size(); ++i, ++next) {
      const OpReport& op = report.ops[next];
      const auto& [loop, name] = in_loops[op.op.index()];
      if (const auto known = entry_of.find(name); !name.empty() && known != entry_of.end()) {
        OpEntry& entry = entries[known->second];
        entry.iterations += times[op.op.index()];
        entry.messages += op.messages;
        if (report.completion)
          entry.period = op.start - entry.last().start;
        entry.runs.push_back(&op);
        continue;
      }
      if (!name.empty())
        entry_of.emplace(name, entries.size());
      entries.push_back({name.empty() ? program.op(op.op).name : name,
                         ThreadId(t),
                         {&op},
                         loop,
                         times[op.op.index()],
                         std::nullopt,
                         op.messages});
    }
  }
  find_named(*report.scenario, entries);
  return entries;
}

}  // namespace orrery
