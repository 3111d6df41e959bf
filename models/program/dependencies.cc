#include "models/program/dependencies.h"

#include <optional>

namespace orrery {

namespace {

/// Adds the edges between the ops of one thread, in the order in which they are issued.
class ThreadDependencies {
 public:
  ThreadDependencies(const Program& program, DependencyGraph& graph)
      : program_(program),
        graph_(graph),
        maker_(program.values.size()),
        readers_(program.buffers.size()) {}

  void add(OpId id) {
    const Op& op = program_.op(id);
    const bool done = op.kind == OpKind::Done;
    for (const ValueId operand : op.operands)
      if (maker_[operand.index()])
        edge(*maker_[operand.index()], id, done ? DependencyKind::Token : DependencyKind::Data);
    for (const ValueId donated : op.donated)
      for (const OpId reader : readers_[program_.value(donated).buffer.index()])
        edge(reader, id, DependencyKind::Reuse);
    for (const ValueId operand : op.operands)
      reads(id, operand);
    // A started collective reads its operands until it has been ended.
    if (done && maker_[op.operands.front().index()])
      for (const ValueId operand : program_.op(*maker_[op.operands.front().index()]).operands)
        reads(id, operand);
    for (const ValueId result : op.results)
      maker_[result.index()] = id;
  }

 private:
  void reads(OpId id, ValueId value) {
    std::vector<OpId>& readers = readers_[program_.value(value).buffer.index()];
    if (readers.empty() || readers.back() != id)
      readers.push_back(id);
  }

  void edge(OpId first, OpId second, DependencyKind kind) {
    boost::add_edge(first.index(), second.index(), Dependency{kind}, graph_);
  }

  const Program& program_;
  DependencyGraph& graph_;
  std::vector<std::optional<OpId>> maker_;  // per value; empty for arguments
  std::vector<std::vector<OpId>> readers_;  // per buffer, in issue order
};

}  // namespace

DependencyGraph dependencies(const Program& program) {
  DependencyGraph graph(program.ops.size());
  for (const Thread& thread : program.threads) {
    ThreadDependencies of_thread(program, graph);
    for (const OpId id : thread.issue_order)
      of_thread.add(id);
  }
  return graph;
}

}  // namespace orrery
