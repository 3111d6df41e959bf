#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "models/base/hash.h"
#include "models/program/loops.h"
#include "verifier/report.h"

namespace orrery {

namespace {

void add_tensor(Hasher& hash, const Tensor& tensor) {
  hash.add(name(tensor.dtype()));
  for (const int64_t extent : tensor.shape().dims())
    hash.add(extent);
  hash.add(tensor.bytes());
}

void add_memory(Hasher& hash, const ListMemory& memory, Bytes reserved) {
  for (const Bytes live : memory.live)
    hash.add(live.count());
  for (const Held& held : memory.live_at_peak)
    hash.add(held.size.count());
  hash.add((memory.peak + reserved).count());
  hash.add(memory.arena.count());
}

/// The runs of an op of a loop's body that the shortened program does not show. Sums are modulo
/// 2^64.
struct HiddenRuns {
  struct Time {
    uint64_t from_start = 0;
    uint64_t from_entered = 0;
  };
  uint64_t count = 0;
  std::vector<Time> took;  // per device of the thread
};

class Shortened {
 public:
  explicit Shortened(const Report& report)
      : report_(report),
        program_(report.scenario->program),
        shown_(shown_when_shortened(program_)),
        names_(names_in_loops(program_)),
        times_(repetitions(program_)),
        has_value_(program_.values.size(), true) {
    for (const Thread& thread : program_.threads)
      hidden_.push_back(hidden_runs(thread));
    for (size_t op = 0; op < program_.ops.size(); ++op)
      if (!names_[op].op.empty())
        for (const ValueId result : program_.ops[op].results)
          has_value_[result.index()] = false;
    for (const ValueId output : program_.outputs)
      has_value_[output.index()] = true;
  }

  /// Returns whether the value is hashed. Values in loops are not, except for outputs: others are
  /// not known where iterations are left out.
  bool has(ValueId value) const { return has_value_[value.index()]; }

  bool shows(OpId op) const { return shown_[op.index()]; }

  void add_hidden(Hasher& hash, ThreadId thread, size_t device) const {
    for (const HiddenRuns& runs : hidden_[thread.index()]) {
      hash.add(runs.count);
      hash.add(runs.took[device].from_start);
      hash.add(runs.took[device].from_entered);
    }
  }

  void add_memory(Hasher& hash, const ListMemory& memory, Bytes reserved) const {
    const std::vector<OpId>& ops = program_.thread(memory.thread.value()).issue_order;
    for (size_t position = 0; position < ops.size(); ++position)
      if (shows(ops[position]))
        hash.add(memory.live[position].count());
    hash.add((memory.peak + reserved).count());
  }

 private:
  /// Returns the hidden runs in the order of the first iterations, which are shown.
  std::vector<HiddenRuns> hidden_runs(const Thread& thread) const {
    std::vector<HiddenRuns> all;
    std::map<std::string_view, size_t> index_of;
    for (const OpId op : thread.issue_order) {
      const std::string& name = names_[op.index()].op;
      if (name.empty())
        continue;
      const auto [at, added] = index_of.emplace(name, all.size());
      if (added)
        all.emplace_back().took.resize(thread.devices.size());
      add_runs(op, all[at->second]);
    }
    return all;
  }

  void add_runs(OpId op, HiddenRuns& runs) const {
    runs.count += shows(op) ? times_[op.index()] - 1 : 1;
    if (!report_.completion)
      return;
    const auto add = [&](size_t device, const OpTime& time) {
      runs.took[device].from_start += static_cast<uint64_t>(time.from_start.count());
      runs.took[device].from_entered += static_cast<uint64_t>(time.from_entered.count());
    };
    const Completion& times = *report_.completion;
    for (size_t device = 0; device < runs.took.size(); ++device) {
      const OpSpan& span = times.spans[op.index()][device];
      if (!shows(op))
        add(device, time_of(span));
      else if (!times.not_kept.empty())
        add(device, times.not_kept[op.index()][device]);
    }
  }

  const Report& report_;
  const Program& program_;
  const std::vector<bool> shown_;
  const std::vector<NameInLoops> names_;
  const std::vector<uint64_t> times_;
  std::vector<bool> has_value_;
  std::vector<std::vector<HiddenRuns>> hidden_;  // per thread
};

}  // namespace

std::string fingerprint(const Report& report) {
  const Program& program = report.scenario->program;
  std::vector<Bytes> bytes(program.ops.size());
  for (const OpReport& op : report.ops)
    bytes[op.op.index()] = op.bytes;
  std::optional<Shortened> shortened;
  if (has_long_loops(program))
    shortened.emplace(report);

  Hasher hash;
  const std::vector<std::vector<ThreadId>> threads_of = threads_by_device(program);
  std::vector<size_t> next_device(program.threads.size(), 0);  // devices of a thread ascend
  for (uint32_t d = 0; d < program.mesh.devices(); ++d) {
    hash.add(d);
    if (threads_of[d].empty())
      continue;
    for (const ThreadId thread : threads_of[d]) {
      const size_t device = next_device[thread.index()]++;
      for (const OpId op : program.thread(thread).issue_order) {
        if (shortened && !shortened->shows(op))
          continue;
        hash.add(bytes[op.index()].count());
        if (!report.completion)
          continue;
        const OpSpan& span = report.completion->spans[op.index()][device];
        hash.add(span.entered.picoseconds());
        hash.add(span.end.picoseconds());
      }
      const ListMemory& memory = report.memory.of(LogicalId(d), thread);
      const Bytes reserved = report.memory.of(LogicalId(d)).reserved;
      if (shortened) {
        shortened->add_hidden(hash, thread, device);
        shortened->add_memory(hash, memory, reserved);
      } else {
        add_memory(hash, memory, reserved);
      }
    }
    if (threads_of[d].empty() && report.memory.kind_of[d])
      hash.add(report.memory.of(LogicalId(d)).peak.count());
    if (!report.values)
      continue;
    for (size_t v = 0; v < program.values.size(); ++v)
      if (const std::optional<Tensor>& value = report.values->at(ValueId(v), LogicalId(d));
          value && (!shortened || shortened->has(ValueId(v))))
        add_tensor(hash, *value);
  }
  return hash.text();
}

}  // namespace orrery
