#include "tools/report/op_entries.h"

#include <map>
#include <string_view>

#include "models/program/folded.h"
#include "models/program/loops.h"

namespace orrery {

std::vector<OpEntry> op_entries(const Report& report) {
  const Program& program = report.scenario->program;
  const std::vector<std::string> in_loops = names_in_loops(program);
  const std::vector<uint64_t> times = repetitions(program);
  std::vector<OpEntry> entries;
  std::map<std::string_view, size_t> entry_of;  // by id: ops of loops
  size_t next = 0;  // the report's ops are those of the threads in order
  for (size_t t = 0; t < program.threads.size(); ++t) {
    for (size_t i = 0; i < program.threads[t].issue_order.size(); ++i, ++next) {
      const OpReport& op = report.ops[next];
      const std::string& name = in_loops[op.op.index()];
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
                         !name.empty(),
                         times[op.op.index()],
                         std::nullopt,
                         op.messages});
    }
  }
  return entries;
}

}  // namespace orrery
