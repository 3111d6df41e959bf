#include "verifier/fingerprint.h"

#include "models/base/hash.h"

namespace orrery {

namespace {

void add_tensor(Hasher& hash, const Tensor& tensor) {
  hash.add(name(tensor.dtype()));
  for (const int64_t extent : tensor.shape().dims())
    hash.add(extent);
  hash.add(tensor.bytes());
}

void add_memory(Hasher& hash, const ThreadMemory& memory) {
  for (const Bytes live : memory.live)
    hash.add(live.count());
  for (const Held& held : memory.live_at_peak)
    hash.add(held.size.count());
  hash.add(memory.peak.count());
  hash.add(memory.arena.count());
}

}  // namespace

std::string fingerprint(const Report& report) {
  const Program& program = report.scenario->program;
  std::vector<Bytes> bytes(program.ops.size());
  for (const OpReport& op : report.ops)
    bytes[op.op.index()] = op.bytes;

  Hasher hash;
  for (const Loop& loop : program.loops)
    if (loop.left_out() > 0)
      hash.add(loop.left_out());
  const std::vector<std::vector<ThreadId>> threads_of = threads_by_device(program);
  std::vector<size_t> next_device(program.threads.size(), 0);  // devices of a thread ascend
  for (uint32_t d = 0; d < program.mesh.devices(); ++d) {
    hash.add(d);
    if (threads_of[d].empty())
      continue;
    for (const ThreadId thread : threads_of[d]) {
      const size_t device = next_device[thread.index()]++;
      for (const OpId op : program.thread(thread).issue_order) {
        hash.add(bytes[op.index()].count());
        if (!report.completion)
          continue;
        const OpSpan& span = report.completion->spans[op.index()][device];
        hash.add(span.start.picoseconds());
        hash.add(span.end.picoseconds());
        if (report.completion->left_out.empty())
          continue;
        const OpTime& others = report.completion->left_out[op.index()][device];
        hash.add(others.from_reached.count());
        hash.add(others.from_start.count());
      }
      add_memory(hash, report.memory.threads[thread.index()]);
    }
    if (const Bytes beside = report.memory.of(LogicalId(d)).beside; beside > Bytes())
      hash.add(beside.count());
    if (!report.values)
      continue;
    for (size_t v = 0; v < program.values.size(); ++v)
      if (const std::optional<Tensor>& value = report.values->at(ValueId(v), LogicalId(d)))
        add_tensor(hash, *value);
  }
  return hash.text();
}

}  // namespace orrery
