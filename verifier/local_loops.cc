#include "verifier/local_loops.h"

#include <algorithm>
#include <cstdint>

#include "models/base/compiler.h"
#include "models/program/loops.h"
#include "models/program/op_overflow.h"
#include "models/program/rules.h"

namespace orrery {

namespace {

bool is_local(const Program& program, const IdRange& ops) {
  return std::all_of(program.ops.begin() + ops.begin, program.ops.begin() + ops.end,
                     [](const Op& op) { return rules(op.kind).family == Family::Local; });
}

}  // namespace

LocalLoops::LocalLoops(const Program& program)
    : program_(program), shortened_(program), added_(program.written_loops.size()) {}

LocalLoops::LocalLoops(const Program& program, const Lowered& lowered) : LocalLoops(program) {
  for (size_t l = 0; l < program.written_loops.size(); ++l)  // inner ones first
    if (program.written_loops[l].left_out() > 0 &&
        is_local(program, program.written_loops[l].last().ops))
      on_behalf_of(OpId(program.written_loops[l].last().ops.begin), [&] { shorten(l, lowered); });
}

void LocalLoops::shorten(size_t loop, const Lowered& lowered) {
  const WrittenLoop& whole = program_.written_loops[loop];
  std::vector<Duration> each(program_.thread(whole.thread).devices.size());
  for (uint32_t id = whole.last().ops.begin; id < whole.last().ops.end; ++id) {
    const OpId op(id);
    std::vector<Duration>& took = took_[op];
    took.resize(each.size());
    const auto longer = longer_.find(op);
    for (size_t device = 0; device < each.size(); ++device) {
      took[device] = lowered.local[id].at(device);
      each[device] += took[device];
      if (longer != longer_.end())  // of a loop inside
        each[device] += longer->second[device];
    }
  }
  const auto times = checked_narrow(Int128{whole.left_out()});
  std::vector<Duration>& longer = longer_[OpId(whole.written[whole.first - 1].ops.end - 1)];
  longer.resize(each.size());
  for (size_t device = 0; device < each.size(); ++device)
    longer[device] += each[device] * times;
  added_[loop] = {whole.left_out(), 1, std::nullopt};
  if (std::all_of(each.begin(), each.end(), [&](Duration d) { return d == each.front(); }))
    added_[loop].later = each.front();
  shortened_ = with_trips(std::move(shortened_), {loop}, whole.written.size());
}

void LocalLoops::correct(Completion& completion) const {
  if (longer_.empty())
    return;
  if (completion.left_out.empty())  // the shortened program has all its iterations
    for (const std::vector<OpSpan>& spans : completion.spans)
      completion.left_out.emplace_back(spans.size());
  const std::vector<uint64_t> all_runs = repetitions(program_);
  const std::vector<uint64_t> runs = repetitions(shortened_);
  for (const auto& [op, longer] : longer_)
    for (size_t device = 0; device < longer.size(); ++device) {
      OpSpan& span = completion.spans[op.index()][device];
      span.end = span.end + longer[device] * -1;
      OpTime& others = completion.left_out[op.index()][device];
      const Duration too_long = longer[device] * checked_narrow(Int128{runs[op.index()]} - 1);
      others.from_start -= too_long;
      others.from_entered -= too_long;
    }
  for (const auto& [op, took] : took_)
    for (size_t device = 0; device < took.size(); ++device) {
      OpTime& others = completion.left_out[op.index()][device];
      const Duration more =
          took[device] * checked_narrow(Int128{all_runs[op.index()]} - runs[op.index()]);
      others.from_start += more;
      others.from_entered += more;
    }
  for (size_t l = 0; l < added_.size(); ++l)
    if (added_[l].count > 0)
      completion.added[l] = added_[l];
}

}  // namespace orrery
