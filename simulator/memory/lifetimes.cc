#include "simulator/memory/lifetimes.h"

#include <algorithm>

#include "models/program/rules.h"
#include "simulator/schedule/tape_order.h"

namespace orrery {

namespace {

class Ledger {
 public:
  Ledger(const Program& program, const Lowered& lowered, ThreadId thread,
         const MemoryPolicy& policy)
      : program_(program),
        lowered_(lowered),
        thread_(program.thread(thread)),
        tape_(lowered.tapes[thread.index()]),
        policy_(policy),
        end_(static_cast<int64_t>(thread_.issue_order.size())),
        uses_(program.buffers.size()),
        lifetime_of_(program.buffers.size()) {}

  std::vector<Lifetime> lifetimes() {
    find_uses();
    std::vector<ValueId> arguments;
    for (const Argument& argument : program_.arguments)
      arguments.push_back(argument.value);
    allocate(std::move(arguments), Lifetime::Role::Argument, kBeforeFirst);
    for (int64_t p = 0; p < end_; ++p) {
      allocate(op_at(p).results, Lifetime::Role::Temporary, p);
      reuse(p);
      allocate_scratch(p);
    }
    return std::move(lifetimes_);
  }

 private:
  struct Use {
    int64_t last = kBeforeFirst;
    bool output = false;
    bool donated = false;
    std::vector<Span> in_flight;
  };

  const Op& op_at(int64_t position) const {
    return program_.op(thread_.issue_order[static_cast<size_t>(position)]);
  }
  BufferId buffer_of(ValueId value) const { return program_.value(value).buffer; }
  Use& use_of(ValueId value) { return uses_[buffer_of(value).index()]; }

  /// The position to which each op keeps its operands and results: its own, or, of a collective,
  /// that of the last op that waits for its end.
  std::vector<int64_t> ends() const {
    std::vector<int64_t> position(program_.ops.size(), end_);
    std::vector<int64_t> ends;
    for (int64_t p = 0; p < end_; ++p) {
      position[thread_.issue_order[static_cast<size_t>(p)].index()] = p;
      ends.push_back(p);
    }
    for (uint32_t i = 0; i < tape_.size(); ++i) {
      if (tape_[i].kind != Instruction::Kind::Enter)
        continue;
      const std::span<const uint32_t> waits = tape_.waits_for(i);
      ends[static_cast<size_t>(position[tape_[i].op.index()])] =
          waits.empty() ? end_ : position[tape_[waits.back()].op.index()];
    }
    return ends;
  }

  void find_uses() {
    ends_ = ends();
    for (int64_t p = 0; p < end_; ++p) {
      const Op& op = op_at(p);
      const Span span{p, ends_[static_cast<size_t>(p)]};
      for (const std::vector<ValueId>* values : {&op.operands, &op.results}) {
        for (const ValueId value : *values) {
          use_of(value).last = std::max(use_of(value).last, span.to);
          if (op.issue == Issue::Start)
            use_of(value).in_flight.push_back(span);
        }
      }
      for (const ValueId value : op.donated)
        use_of(value).donated = true;
    }
    for (const ValueId value : program_.outputs)
      use_of(value).output = true;
  }

  /// Begins the lifetimes of the buffers of `values` that have none yet.
  void allocate(std::vector<ValueId> values, Lifetime::Role role, int64_t position) {
    std::sort(values.begin(), values.end());
    for (const ValueId value : values) {
      const Buffer& buffer = program_.buffer(buffer_of(value));
      std::optional<size_t>& place = lifetime_of_[buffer_of(value).index()];
      if (place || buffer.space != MemorySpace::Device)
        continue;
      place = lifetimes_.size();
      const Use& use = use_of(value);
      Lifetime& lifetime = lifetimes_.emplace_back();
      lifetime.name = program_.value(value).name;
      lifetime.role =
          role == Lifetime::Role::Temporary && use.output ? Lifetime::Role::Output : role;
      lifetime.size = align_up(buffer.size, policy_.alignment);
      const bool to_the_end = use.output || (role == Lifetime::Role::Argument && !use.donated);
      lifetime.held = {position, to_the_end ? end_ : use.last};
      lifetime.in_flight = use.in_flight;
    }
  }

  /// Under `reuse: "xla"`, gives the result the storage of the first operand that is as large and
  /// dies here, where the op can work in place.
  void reuse(int64_t position) {
    const Op& op = op_at(position);
    if (policy_.reuse != MemoryPolicy::Reuse::Xla || rules(op.kind).alias != Alias::DyingOperand)
      return;
    const BufferId result = buffer_of(op.results.front());
    for (const ValueId operand : op.operands) {
      const std::optional<size_t> from = lifetime_of_[buffer_of(operand).index()];
      const std::optional<size_t> to = lifetime_of_[result.index()];
      if (!from || !to || lifetimes_[*from].held.to != position ||
          program_.buffer(buffer_of(operand)).size != program_.buffer(result).size)
        continue;
      lifetimes_[*from].held.to = position - 1;
      lifetimes_[*to].takes_over = from;
      return;
    }
  }

  void allocate_scratch(int64_t position) {
    const OpId id = thread_.issue_order[static_cast<size_t>(position)];
    if (!program_.op(id).site)
      return;
    Bytes most;
    for (const LogicalId device : thread_.devices) {
      const Member& member = lowered_.member(program_, id, device);
      most = std::max(most, lowered_.collective(member.collective).scratch);
    }
    if (most == Bytes())
      return;
    Lifetime& lifetime = lifetimes_.emplace_back();
    lifetime.name = program_.op(id).name;
    lifetime.role = Lifetime::Role::Scratch;
    lifetime.size = align_up(most, policy_.alignment);
    lifetime.held = {position, ends_[static_cast<size_t>(position)]};
  }

  const Program& program_;
  const Lowered& lowered_;
  const Thread& thread_;
  const TapeOrder tape_;
  const MemoryPolicy& policy_;
  int64_t end_;
  std::vector<int64_t> ends_;                       // per position
  std::vector<Use> uses_;                           // per buffer
  std::vector<std::optional<size_t>> lifetime_of_;  // per buffer
  std::vector<Lifetime> lifetimes_;
};

}  // namespace

std::vector<Lifetime> lifetimes(const Program& program, const Lowered& lowered, ThreadId thread,
                                const MemoryPolicy& policy) {
  return Ledger(program, lowered, thread, policy).lifetimes();
}

}  // namespace orrery
