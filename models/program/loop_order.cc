#include <limits>
#include <vector>

#include "models/program/loops.h"

namespace orrery {

bool for_each_part(const Program& program, ThreadId thread, const ForEachPart& visit) {
  const std::vector<OpId>& ops = program.thread(thread).issue_order;
  const std::vector<Loop>& loops = program.loops;
  std::vector<size_t> open;
  size_t l = 0;  // the next loop to begin
  for (size_t i = 0;;) {
    while (l < loops.size() && loops[l].thread != thread)
      ++l;
    const size_t next = i < ops.size() ? ops[i].index() : std::numeric_limits<size_t>::max();
    const std::optional<size_t> around = open.empty() ? std::nullopt : std::optional(open.back());
    if (l < loops.size() && loops[l].around == around && loops[l].ops.begin <= next) {
      open.push_back(l);
      if (!visit.begin(l++))
        return false;
    } else if (around && loops[*around].ops.end <= next) {
      open.pop_back();
      if (!visit.end(*around))
        return false;
    } else if (i == ops.size()) {
      return true;
    } else if (!visit.op(ops[i++])) {
      return false;
    }
  }
}

}  // namespace orrery
