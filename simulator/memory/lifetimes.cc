#include "simulator/memory/lifetimes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/base/compiler.h"
#include "models/program/loops.h"
#include "models/program/op.h"
#include "models/program/op_rules.h"
#include "simulator/schedule/tape.h"

namespace orrery {

namespace {

class Ledger {
 public:
  Ledger(const Program& program, const Lowered& lowered, const HeldList& list,
         const MemoryPolicy& policy, const std::vector<bool>& argument,
         const std::vector<std::vector<Gap>>& gaps)
      : program_(program),
        lowered_(lowered),
        thread_(list.thread ? program.thread(*list.thread) : kNoThread),
        policy_(policy),
        argument_(argument),
        gaps_(gaps),
        end_(static_cast<int64_t>(thread_.issue_order.size())),
        ends_(list.thread ? ends_of_use(lowered.tapes[list.thread->index()])
                          : std::vector<uint32_t>()),
        list_(list),
        buffers_(buffers()),
        uses_(buffers_.size()),
        lifetime_of_(buffers_.size()),
        output_(outputs()) {}

  std::vector<Lifetime> lifetimes() {
    find_uses();
    allocate(list_.holds, Lifetime::Role::Argument, kBeforeFirst);
    for (int64_t p = 0; p < end_; ++p) {
      const OpId id = id_at(p);
      on_behalf_of(id, [&] {
        const Op& op = program_.op(id);
        const OpMemory memory = memory_of(program_, op);
        allocate(op.results, Lifetime::Role::Temporary, p);
        reuse(p, memory);
        allocate_scratch(p, op.site ? scratch_of_collective(id) : memory.scratch);
      });
    }
    add_leaks();
    return std::move(lifetimes_);
  }

 private:
  struct BufferUse {
    int64_t last = kBeforeFirst;         // the end of the last op that makes or uses it
    int64_t used = kBeforeFirst;         // the end of the last op that uses it
    int64_t last_issued = kBeforeFirst;  // the position of the last op that makes or uses it
    bool donated = false;
    std::vector<Span> in_flight;
  };

  OpId id_at(int64_t position) const { return thread_.issue_order[static_cast<size_t>(position)]; }
  const Op& op_at(int64_t position) const { return program_.op(id_at(position)); }
  BufferId buffer_of(ValueId value) const { return program_.value(value).buffer; }

  /// Returns the buffers of the arguments, and of the operands and results of the thread's ops,
  /// ascending.
  std::vector<BufferId> buffers() const {
    std::vector<BufferId> buffers;
    for (const ValueId argument : list_.holds)
      buffers.push_back(buffer_of(argument));
    for (const OpId op : thread_.issue_order)
      for (const std::vector<ValueId>* values :
           {&program_.op(op).operands, &program_.op(op).results})
        for (const ValueId value : *values)
          buffers.push_back(buffer_of(value));
    std::sort(buffers.begin(), buffers.end());
    buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
    return buffers;
  }

  /// Returns, per buffer of the thread, whether an output that the devices have lives there.
  std::vector<bool> outputs() const {
    std::vector<bool> outputs(buffers_.size(), false);
    for (const ValueId output : program_.outputs)
      if (!is_lacking(output) &&
          std::binary_search(buffers_.begin(), buffers_.end(), buffer_of(output)))
        outputs[index_of(output)] = true;
    return outputs;
  }

  bool is_lacking(ValueId value) const {
    return std::binary_search(list_.lacks.begin(), list_.lacks.end(), value);
  }

  /// Returns the index of a value's buffer among those of the thread, which must have it.
  size_t index_of(ValueId value) const { return index_of(buffer_of(value)); }
  size_t index_of(BufferId buffer) const {
    return static_cast<size_t>(std::lower_bound(buffers_.begin(), buffers_.end(), buffer) -
                               buffers_.begin());
  }
  BufferUse& use_of(ValueId value) { return uses_[index_of(value)]; }
  std::optional<size_t>& lifetime_of(ValueId value) { return lifetime_of_[index_of(value)]; }

  void find_uses() {
    for (int64_t p = 0; p < end_; ++p) {
      const Op& op = op_at(p);
      const Span span{p, ends_[static_cast<size_t>(p)]};
      for (const std::vector<ValueId>* values : {&op.operands, &op.results}) {
        for (const ValueId value : *values) {
          if (is_lacking(value))
            continue;
          BufferUse& use = use_of(value);
          use.last = std::max(use.last, span.to);
          use.last_issued = p;
          if (values == &op.operands || op.issue == Issue::Start)
            use.used = std::max(use.used, span.to);
          if (op.issue == Issue::Start)
            use.in_flight.push_back(span);
        }
      }
      for (const ValueId value : op.donated)
        if (!is_lacking(value))
          use_of(value).donated = true;
    }
  }

  HeldUntil held_until(const BufferUse& use, Lifetime::Role role) const {
    const bool argument = role == Lifetime::Role::Argument;
    if (argument && !use.donated)
      return HeldUntil::EndAsArgument;
    if (use.last == end_)
      return HeldUntil::EndInFlight;
    if (argument)
      return HeldUntil::Donation;
    return use.used == use.last ? HeldUntil::LastUse : HeldUntil::NeverUsed;
  }

  /// Begins the lifetimes of those buffers of `values` that have none yet. A result may lie in an
  /// argument that another list of the device holds.
  void allocate(std::vector<ValueId> values, Lifetime::Role role, int64_t position) {
    std::sort(values.begin(), values.end());
    for (const ValueId value : values) {
      const Buffer& buffer = program_.buffer(buffer_of(value));
      std::optional<size_t>& lifetime_index = lifetime_of(value);
      const bool held_elsewhere =
          role != Lifetime::Role::Argument && argument_[buffer_of(value).index()];
      if (lifetime_index || held_elsewhere || buffer.space != MemorySpace::Device ||
          is_lacking(value))
        continue;
      lifetime_index = lifetimes_.size();
      const BufferUse& use = use_of(value);
      Lifetime& lifetime = lifetimes_.emplace_back();
      lifetime.name = program_.value(value).name;
      lifetime.buffer = buffer_of(value);
      const bool output = output_[index_of(value)];
      lifetime.role = role == Lifetime::Role::Temporary && output ? Lifetime::Role::Output : role;
      lifetime.size = align_up(buffer.size, policy_.alignment);
      lifetime.until = output ? HeldUntil::EndAsOutput : held_until(use, role);
      const bool to_the_end = output || lifetime.until == HeldUntil::EndAsArgument;
      lifetime.held = {position, to_the_end ? end_ : use.last};
      lifetime.in_flight = use.in_flight;
    }
  }

  /// Adds what iterations left out hold to the end, since nothing waits for a collective that they
  /// start. They hold what the iterations do that they are copies of. A left-out iteration of an
  /// outer loop has all iterations of an inner one, shown or left out.
  void add_leaks() {
    if (gaps_.empty())
      return;
    const size_t made = lifetimes_.size();
    for (size_t i = 0; i < made; ++i) {
      const Lifetime lifetime = lifetimes_[i];  // more are added
      const bool to_the_end =
          lifetime.until == HeldUntil::EndInFlight ||
          (lifetime.role == Lifetime::Role::Scratch && lifetime.held.to == end_);
      if (!to_the_end || lifetime.held.from == kBeforeFirst)
        continue;
      const std::string name = lifetime.name + " of the iterations left out";
      Bytes of_each = lifetime.size;
      for (const Gap& gap : gaps_[id_at(lifetime.held.from).index()]) {
        const std::vector<LoopIteration>& written = program_.written_loops[gap.loop].written;
        const int64_t copies = checked_narrow(Int128{written[gap.behind - 1].copies});
        hold_from(OpId(written[gap.behind].ops.begin), name, of_each * copies);
        of_each += of_each * copies;
      }
    }
  }

  void hold_from(OpId from, const std::string& name, Bytes size) {
    const auto at = std::lower_bound(thread_.issue_order.begin(), thread_.issue_order.end(), from);
    Lifetime& lifetime = lifetimes_.emplace_back();
    lifetime.name = name;
    lifetime.size = size;
    lifetime.held = {at - thread_.issue_order.begin(), end_};
    lifetime.in_flight = {lifetime.held};
  }

  /// Under `reuse: "xla"`, gives each result that the op can make in place the storage of the first
  /// operand that is as large and dies here.
  void reuse(int64_t position, const OpMemory& memory) {
    if (policy_.reuse != MemoryPolicy::Reuse::Xla)
      return;
    const Op& op = op_at(position);
    if (op.site && !works_in_place(id_at(position)))
      return;
    for (size_t r = 0; r < memory.results.size(); ++r) {
      if (memory.results[r].alias == Alias::DyingOperand)
        take_over(op.operands, op.results[r], position);
      if (memory.results[r].alias == Alias::DyingFirst)
        take_over(std::span(op.operands).first(1), op.results[r], position);
    }
  }

  /// Returns whether the schedule of the collective works in place on every device of the thread.
  bool works_in_place(OpId id) const {
    return std::all_of(thread_.devices.begin(), thread_.devices.end(), [&](LogicalId device) {
      const Member& member = lowered_.member(program_, id, device);
      return lowered_.collective(member.collective).schedule->extent().works_in_place;
    });
  }

  /// Returns whether nothing but the op at this position uses the storage from here on.
  bool dies_at(int64_t position, const Lifetime& lifetime, const BufferUse& use) const {
    const int64_t end = ends_[static_cast<size_t>(position)];
    return lifetime.held.to == end && use.last_issued == position &&
           std::all_of(use.in_flight.begin(), use.in_flight.end(), [&](const Span& flight) {
             return flight.from == position || flight.to <= position;
           });
  }

  /// Gives the result the storage of the first operand that dies here and has as many elements of
  /// the same size. Then each result element lies where one operand element does. (A scalar beside
  /// an array is read for every element.) An operand that is taken over ends before the position,
  /// so no second result takes it.
  void take_over(std::span<const ValueId> operands, ValueId result, int64_t position) {
    const Bytes size = program_.buffer(buffer_of(result)).size;
    const Bytes item = itemsize(program_.value(result).type.dtype);
    for (const ValueId operand : operands) {
      const std::optional<size_t> from = lifetime_of(operand);
      const std::optional<size_t> to = lifetime_of(result);
      if (!from || !to || !dies_at(position, lifetimes_[*from], use_of(operand)) ||
          program_.buffer(buffer_of(operand)).size != size ||
          program_.value(operand).type.size() != size ||
          itemsize(program_.value(operand).type.dtype) != item)
        continue;
      lifetimes_[*from].held.to = position - 1;
      lifetimes_[*from].until = HeldUntil::TakenOver;
      lifetimes_[*to].takes_over = from;
      return;
    }
  }

  /// Returns the most scratch that a device of the thread needs for a collective.
  Bytes scratch_of_collective(OpId id) const {
    Bytes most;
    for (const LogicalId device : thread_.devices) {
      const Member& member = lowered_.member(program_, id, device);
      most = std::max(most, lowered_.collective(member.collective).scratch);
    }
    return most;
  }

  void allocate_scratch(int64_t position, Bytes size) {
    if (size == Bytes())
      return;
    Lifetime& lifetime = lifetimes_.emplace_back();
    lifetime.name = op_at(position).name;
    lifetime.role = Lifetime::Role::Scratch;
    lifetime.size = align_up(size, policy_.alignment);
    lifetime.held = {position, ends_[static_cast<size_t>(position)]};
  }

  static inline const Thread kNoThread = {};

  const Program& program_;
  const Lowered& lowered_;
  const Thread& thread_;
  const MemoryPolicy& policy_;
  const std::vector<bool>& argument_;          // per buffer
  const std::vector<std::vector<Gap>>& gaps_;  // per op; empty where all are written
  int64_t end_;
  const std::vector<uint32_t> ends_;  // per position
  const HeldList& list_;
  std::vector<BufferId> buffers_;                   // of the thread; ascending
  std::vector<BufferUse> uses_;                     // per buffer of the thread
  std::vector<std::optional<size_t>> lifetime_of_;  // per buffer of the thread
  const std::vector<bool> output_;                  // per buffer of the thread
  std::vector<Lifetime> lifetimes_;
};

}  // namespace

const std::vector<OpId>& ops_of_list(const Program& program, std::optional<ThreadId> thread) {
  static const std::vector<OpId> kNone;
  return thread ? program.thread(*thread).issue_order : kNone;
}

Lifetimes::Lifetimes(const Program& program, const Lowered& lowered, const MemoryPolicy& policy)
    : program_(program), lowered_(lowered), policy_(policy), argument_(program.buffers.size()) {
  for (const Argument& argument : program.arguments)
    argument_[program.value(argument.value).buffer.index()] = true;
  if (leaves_out_iterations(program))
    gaps_ = gaps_with_copies(program);
  for (size_t t = 0; t < program.threads.size(); ++t)
    for (const OpId op : program.threads[t].issue_order)
      for (const ValueId value : program.op(op).donated)
        donors_[program.value(value).buffer].emplace_back(t);
}

bool Lifetimes::reads(ThreadId thread, BufferId buffer) const {
  const std::vector<OpId>& ops = program_.thread(thread).issue_order;
  return std::any_of(ops.begin(), ops.end(), [&](OpId op) {
    const std::vector<ValueId>& operands = program_.op(op).operands;
    return std::any_of(operands.begin(), operands.end(),
                       [&](ValueId value) { return program_.value(value).buffer == buffer; });
  });
}

std::vector<std::vector<ValueId>> Lifetimes::held_arguments(
    std::span<const ThreadId> threads, std::span<const ValueId> arguments) const {
  if (threads.empty())
    return {{arguments.begin(), arguments.end()}};
  std::vector<std::vector<ValueId>> held(threads.size());
  for (const ValueId argument : arguments) {
    const BufferId buffer = program_.value(argument).buffer;
    const auto donors = donors_.find(buffer);
    const auto donates = [&](ThreadId thread) {
      return donors != donors_.end() && std::find(donors->second.begin(), donors->second.end(),
                                                  thread) != donors->second.end();
    };
    const bool is_donated = std::any_of(threads.begin(), threads.end(), donates);
    bool is_kept = false;
    for (size_t l = 0; l < threads.size(); ++l) {
      const bool keeps =
          !is_kept && !donates(threads[l]) && (!is_donated || reads(threads[l], buffer));
      if (keeps || donates(threads[l]))
        held[l].push_back(argument);
      is_kept |= keeps;
    }
  }
  return held;
}

std::vector<Lifetime> Lifetimes::of(const HeldList& list) const {
  return Ledger(program_, lowered_, list, policy_, argument_, gaps_).lifetimes();
}

}  // namespace orrery
