#pragma once

// Builds programs by hand, with sizes in bytes. Each value is u8[bytes] in a buffer of its own,
// unless it aliases another. No type rule is checked, so a test states only what memory depends on.

#include <memory>
#include <string>
#include <vector>

#include "models/program/op_rules.h"
#include "models/program/program.h"
#include "simulator/memory/profile.h"
#include "simulator/schedule/tape.h"

namespace orrery::test {

/// A `ScratchSchedule` is a collective without steps.
class ScratchSchedule final : public Schedule {
 public:
  ScratchSchedule(uint32_t nodes, int64_t scratch, bool works_in_place) {
    extent_.nodes = nodes;
    extent_.scratch = scratch;
    extent_.works_in_place = works_in_place;
  }
  const Extent& extent() const override { return extent_; }
  uint32_t steps(Node, Channel) const override { return 0; }
  Step step(StepRef) const override { return {}; }
  StepRef peer(StepRef ref, Half) const override { return ref; }

 private:
  Extent extent_;
};

class HandProgram {
 public:
  explicit HandProgram(int64_t devices = 1) {
    program.mesh = Mesh({{"x", devices}});
    Thread& thread = program.threads.emplace_back();
    for (int64_t d = 0; d < devices; ++d)
      thread.devices.emplace_back(static_cast<size_t>(d));
  }

  Program program;
  Lowered lowered;
  MemoryPolicy policy{MemoryPolicy::Reuse::Never, Bytes(1), Bytes()};

  ValueId argument(const std::string& name, int64_t bytes) {
    const ValueId value = fresh(name, bytes);
    program.arguments.push_back({value});
    return value;
  }

  /// Adds an op to the last thread, with one result in a buffer of its own.
  ValueId op(OpKind kind, const std::string& name, std::vector<ValueId> operands, int64_t bytes) {
    return issue(kind, Issue::Sync, name, std::move(operands), fresh(name, bytes));
  }
  ValueId start(OpKind kind, const std::string& name, std::vector<ValueId> operands,
                int64_t bytes) {
    return issue(kind, Issue::Start, name, std::move(operands), fresh(name, bytes));
  }
  /// Adds a reshape or a done, whose result shares the operand's buffer.
  ValueId alias(OpKind kind, const std::string& name, ValueId operand) {
    return part(kind, name, operand, 0, program.value(operand).type.size().count());
  }
  /// Adds an op whose result is `bytes` bytes of the operand, from `offset` on.
  ValueId part(OpKind kind, const std::string& name, ValueId operand, int64_t offset,
               int64_t bytes) {
    const Value& whole = program.value(operand);
    const Location at = locate_result(program, {Alias::Operand, 0, Bytes(offset)}, Bytes(bytes),
                                      std::vector{operand});
    const ValueId value(program.values.size());
    program.values.push_back(
        {name, {Dtype::U8, Shape{bytes}, {}, whole.type.future}, at.buffer, at.offset});
    return issue(kind, Issue::Sync, name, {operand}, value);
  }
  /// Gives the last op one more result, in a buffer of its own.
  ValueId and_result(const std::string& name, int64_t bytes) {
    const ValueId value = fresh(name, bytes);
    program.ops.back().results.push_back(value);
    return value;
  }
  /// Gives the last op, a compute, this scratch beside its operands and results.
  void declare_scratch(int64_t bytes) {
    program.ops.back().attributes.set("scratch", Bytes(bytes));
  }

  /// Lets the last op take the storage of `value`.
  void donate(ValueId value) { program.ops.back().donated.push_back(value); }

  /// A `GroupScratch` is a group of a collective, with its scratch in bytes.
  struct GroupScratch {
    Group group;
    int64_t bytes = 0;
    bool works_in_place = false;
  };
  /// Makes the last op a collective with these groups.
  void scratch(const std::vector<GroupScratch>& groups) {
    const SiteId site(program.sites.size());
    program.ops.back().site = site;
    Site& made = program.sites.emplace_back();
    made.ops.emplace_back(program.ops.size() - 1);
    for (const auto& [group, bytes, works_in_place] : groups) {
      made.groups.push_back(group);
      lowered.schedules.push_back(std::make_unique<ScratchSchedule>(
          static_cast<uint32_t>(group.size()), bytes, works_in_place));
      Collective& collective = lowered.collectives.emplace_back();
      collective.site = site;
      collective.scratch = Bytes(bytes);
      collective.schedule = lowered.schedules.back().get();
      collective.members = group;
    }
    lowered.members = members_by_site(lowered, program.sites.size());
  }
  /// Makes the last op join the site of an earlier op of another thread.
  void join(SiteId site) {
    program.ops.back().site = site;
    program.sites[site.index()].ops.emplace_back(program.ops.size() - 1);
  }

  /// Begins another thread.
  void thread(std::vector<LogicalId> devices) {
    program.threads.push_back({"", std::move(devices), {}});
  }

  void output(ValueId value) { program.outputs.push_back(value); }

  MemoryProfile profile() {
    lowered.iterations = std::make_shared<const Iterations>(program);
    lowered.tapes.clear();
    for (const Thread& each : program.threads)
      lowered.tapes.emplace_back(program, each, lowered.iterations);
    return orrery::profile(program, lowered, policy);
  }
  /// Returns the memory of a thread's list, on the first of its devices.
  ListMemory memory(size_t thread = 0) {
    return profile().of(program.threads[thread].devices.front(), ThreadId(thread));
  }
  /// Returns the bytes that a thread holds at each position.
  std::vector<int64_t> live(size_t thread = 0) {
    std::vector<int64_t> live;
    for (const Bytes bytes : memory(thread).live)
      live.push_back(bytes.count());
    return live;
  }
  std::string peak_at(size_t thread = 0) { return program.op(memory(thread).peak_at.value()).name; }

 private:
  ValueId fresh(const std::string& name, int64_t bytes) {
    const BufferId buffer(program.buffers.size());
    program.buffers.push_back({Bytes(bytes), MemorySpace::Device});
    const ValueId value(program.values.size());
    program.values.push_back({name, {Dtype::U8, Shape{bytes}, {}, false}, buffer, Bytes()});
    return value;
  }

  ValueId issue(OpKind kind, Issue issue, const std::string& name, std::vector<ValueId> operands,
                ValueId result) {
    Op& op = program.ops.emplace_back();
    op.name = name;
    op.kind = kind;
    op.issue = issue;
    op.operands = std::move(operands);
    op.results = {result};
    program.threads.back().issue_order.emplace_back(program.ops.size() - 1);
    return result;
  }
};

}  // namespace orrery::test
