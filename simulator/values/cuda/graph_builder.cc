#include "simulator/values/cuda/graph_builder.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/base/check.h"
#include "models/program/futures.h"
#include "models/program/holders.h"
#include "models/program/op_rules.h"
#include "models/program/sides.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/program_walk.h"
#include "simulator/schedule/walk.h"
#include "simulator/values/cuda/collective_builder.h"
#include "simulator/values/cuda/kernels/calls.h"
#include "simulator/values/cuda/work_graph.h"
#include "simulator/values/host_executor.h"

namespace orrery::cuda {

namespace {

/// ListEvents has the events of the devices' lists (tape.h) as nodes of the work graph. It keeps
/// references to its arguments.
class ListEvents {
 public:
  ListEvents(const ProgramLists& lists, WorkGraph& graph, CauseEdges& causes);

  /// Returns the dependencies of a moment, Passed or Entered. Requires that the moment's causes
  /// have happened: a walk comes to a moment after its causes.
  Dependencies before(ListId list, Moment moment);

  /// These record when a list has passed an instruction that has nodes of its own, and when a
  /// collective has ended on a list.
  void passed(ListId list, uint64_t position, const Frontier& frontier);
  void ended(EnterRef entry, const Frontier& frontier);

 private:
  struct OfList {
    uint64_t next = 0;              // the compute stream has passed the instructions before
    std::vector<Frontier> reached;  // per instruction: when the compute stream had passed it
    std::vector<Frontier> ended;    // per instruction that is an Enter
  };

  /// Passes the instructions before `end`, which have no nodes.
  void go_to(ListId list, uint64_t end);
  const Frontier& at(ListId list, Moment moment) const;

  const ProgramLists& lists_;
  WorkGraph& graph_;
  CauseEdges& causes_;
  std::vector<OfList> of_;
};

ListEvents::ListEvents(const ProgramLists& lists, WorkGraph& graph, CauseEdges& causes)
    : lists_(lists), graph_(graph), causes_(causes), of_(lists.size()) {
  for (uint32_t l = 0; l < lists.size(); ++l) {
    of_[l].reached.resize(lists.tape(ListId(l)).size());
    of_[l].ended.resize(lists.tape(ListId(l)).size());
  }
}

Dependencies ListEvents::before(ListId list, Moment moment) {
  // A device enters after its list has passed the Enter itself.
  go_to(list, moment.position + (moment.kind == MomentKind::Passed ? 0 : 1));
  Dependencies after;
  for_each_cause(lists_.tape(list), moment, [&](Moment cause) {
    causes_.add(EdgeKind::List, at(list, cause), after);
    return true;
  });
  return after;
}

void ListEvents::passed(ListId list, uint64_t position, const Frontier& frontier) {
  OfList& of = of_[list.index()];
  ORRERY_CHECK(of.next == position, "a list passes its instructions in order");
  of.next = position + 1;
  of.reached[position] = frontier;
}

void ListEvents::ended(EnterRef entry, const Frontier& frontier) {
  of_[entry.list.index()].ended[entry.enter] = frontier;
}

void ListEvents::go_to(ListId list, uint64_t end) {
  while (of_[list.index()].next < end) {
    const uint64_t instruction = of_[list.index()].next;
    Dependencies after = before(list, {MomentKind::Passed, instruction});
    passed(list, instruction,
           after.frontier(graph_, lists_[list].device, {lists_.tape(list)[instruction].op}));
  }
}

const Frontier& ListEvents::at(ListId list, Moment moment) const {
  const OfList& of = of_[list.index()];
  if (moment.kind == MomentKind::Ended)
    return of.ended[moment.position];
  ORRERY_CHECK(moment.kind == MomentKind::Passed && moment.position < of.next,
               "a cause has happened before what it causes");
  return of.reached[moment.position];
}

/// GraphBuilder is a visitor of the walk.
class GraphBuilder : public NoVisitor {
 public:
  GraphBuilder(const Program& program, const Lowered& lowered, const ArenaLayout& layout,
               const BuildOptions& options)
      : program_(program),
        lowered_(lowered),
        lists_(program, lowered),
        futures_(program),
        bodies_(program),
        holders_(program),
        making_{{}, CauseEdges(options.omitted_cause), {program, layout, options.bases}, {}, {}},
        events_(lists_, making_.graph, making_.causes),
        products_(options.products),
        guards_to_(options.guards),
        running_(lowered.collectives.size()) {
    for (const Observed& each : options.observed)
      observed_[{each.value, each.device}] = each.to;
  }

  Built build() && {
    const Stop stop = walk(program_, lowered_, *this);
    ORRERY_CHECK(stop.finished(), "a program that is run has an end");
    return {std::move(making_.graph),
            making_.memory.arenas(),
            making_.memory.beside(),
            std::move(guards_),
            WalkDigest{making_.halves, making_.moves},
            making_.causes.counts()};
  }

  void local(OpRun run, LogicalId device) {
    const OpId id = run.op;
    const Op& op = program_.op(id);
    const ListId list = lists_.list_of(id, device);
    const ThreadId thread = lists_[list].thread;
    const uint64_t position = lists_.position(run);
    Dependencies after = events_.before(list, {MomentKind::Passed, position});
    std::vector<DevicePointer> operands;
    for (const ValueId operand : op.operands)
      operands.push_back(holders_.has(device, operand)
                             ? making_.memory.address(device, thread, operand)
                             : DevicePointer{0});
    const std::vector<DevicePointer> results = making_.memory.addresses(device, thread, op.results);
    for (const ValueId result : op.results)
      guard(result, device, thread, id, after);
    if (const auto product = products_.find(id); product != products_.end())
      making_.chain({Product{product->second, results[0], operands[0], operands[1]}, device, {id}},
                    after);
    else if (rules(op.kind).body != nullptr)
      run_body(bodies_.of(op), device, id, {operands, results}, after);
    else
      for (KernelCall& call : local_calls(program_, op, device, {operands, results}))
        making_.chain({std::move(call), device, {id}}, after);
    making_.memory.scratch(device, thread, id);
    for (const ValueId result : op.results) {
      look_at_guard(result, device, thread, id, after);
      observe(result, device, thread, id, after);
    }
    events_.passed(list, position, after.frontier(making_.graph, device, {id}));
  }

  void enter(CollectiveRun run, Node node, OpRun by) {
    const CollectiveId id = run.collective;
    const OpId op_id = by.op;
    const Op& op = program_.op(op_id);
    std::optional<CollectiveBuilder>& running = running_[id.index()];
    if (!running) {
      const Collective& collective = lowered_.collective(id);
      running.emplace(id, collective, op_folding(program_, op, collective.work), op_id, making_);
    }
    const EnterRef entry = lists_.enter_of(id, node);
    Dependencies after = events_.before(entry.list, {MomentKind::Entered, entry.enter});
    const List& list = lists_[entry.list];
    if (takes_result(op))
      guard(op.results.front(), list.device, list.thread, op_id, after);
    running->enter(node, entrance_of(op_id, list), after);
  }

  void receive(CollectiveRun run, StepRef ref, const Step& step) {
    running_[run.collective.index()]->run(ref, Half::Receive, step);
  }

  void send(CollectiveRun run, StepRef ref, const Step& step) {
    running_[run.collective.index()]->run(ref, Half::Send, step);
    drop_if_over(run.collective);
  }

  void exit(CollectiveRun run, Node node, OpRun by) {
    const CollectiveId id = run.collective;
    const OpId op_id = by.op;
    const Op& op = program_.op(op_id);
    const EnterRef entry = lists_.enter_of(id, node);
    const LogicalId device = lists_[entry.list].device;
    CollectiveBuilder& running = *running_[id.index()];
    Dependencies after;
    running.exit(
        node,
        takes_result(op) ? std::optional(program_.value(op.results.front()).type) : std::nullopt,
        after);
    if (takes_result(op)) {
      const ThreadId thread = lists_[entry.list].thread;
      look_at_guard(op.results.front(), device, thread, op_id, after);
      for (const ValueId result : futures_.results(op))
        observe(result, device, thread, op_id, after);
    }
    const Frontier ended = after.frontier(making_.graph, device, {op_id});
    events_.ended(entry, ended);
    running.left(node, ended);
    drop_if_over(id);
  }

 private:
  CollectiveBuilder::Entrance entrance_of(OpId id, const List& list) {
    const Op& op = program_.op(id);
    CollectiveBuilder::Entrance entrance{id, {}, {}};
    const std::span<const ValueId> given = given_by(op);
    if (!given.empty()) {
      entrance.storage.operand_dtype = program_.value(given.front()).type.dtype;
      entrance.storage.operand = making_.memory.address(list.device, list.thread, given.front());
      entrance.storage.several_operands = given.size() > 1;
    }
    Bytes joined;
    for (size_t i = 0; given.size() > 1 && i < given.size(); ++i) {
      const Bytes size = program_.value(given[i]).type.size();
      if (size > Bytes())
        entrance.joined.push_back({static_cast<uint64_t>(joined.count()),
                                   making_.memory.address(list.device, list.thread, given[i]),
                                   size});
      joined += size;
    }
    if (takes_result(op)) {
      entrance.storage.result_dtype = program_.value(op.results.front()).type.dtype;
      entrance.storage.result =
          making_.memory.address(list.device, list.thread, op.results.front());
    }
    entrance.storage.scratch = making_.memory.scratch(list.device, list.thread, id);
    return entrance;
  }

  /// Runs the ops of a body one after another. Their results lie beside the arena, as in a kernel
  /// they would lie on the chip. Outputs that lie in operands are first copied there too, since a
  /// result may have the memory of an operand.
  void run_body(const Program& body, LogicalId device, OpId op, const LocalOperands& where,
                Dependencies& after) {
    constexpr int64_t kAlignment = ReusePool::kAlignment;
    std::vector<Bytes> begins(body.buffers.size());
    std::vector<std::optional<DevicePointer>> given(body.buffers.size());
    for (size_t k = 0; k < body.arguments.size(); ++k)
      given[body.value(body.arguments[k].value).buffer.index()] = where.operands[k];
    Bytes size;
    const auto place = [&](Bytes bytes) {
      const Bytes begin = size;
      size += Bytes((bytes.count() + kAlignment - 1) / kAlignment * kAlignment);
      return begin;
    };
    for (size_t b = 0; b < body.buffers.size(); ++b)
      if (!given[b])
        begins[b] = place(body.buffers[b].size);
    std::vector<std::optional<Bytes>> aside;  // per output
    for (const ValueId output : body.outputs) {
      const Value& value = body.value(output);
      aside.push_back(given[value.buffer.index()] ? std::optional(place(value.type.size()))
                                                  : std::nullopt);
    }
    const BesideArena memory = making_.memory.take_beside(device, size, after);
    const auto address = [&](ValueId id) {
      const Value& value = body.value(id);
      const size_t buffer = value.buffer.index();
      return given[buffer].value_or(making_.memory.address(memory) +
                                    static_cast<uint64_t>(begins[buffer].count())) +
             static_cast<uint64_t>(value.offset.count());
    };
    const auto addresses = [&](const std::vector<ValueId>& values) {
      std::vector<DevicePointer> result;
      for (const ValueId value : values)
        result.push_back(address(value));
      return result;
    };
    for (const Op& each : body.ops) {
      const std::vector<DevicePointer> operands = addresses(each.operands);
      const std::vector<DevicePointer> results = addresses(each.results);
      for (KernelCall& call : local_calls(body, each, LogicalId(0), {operands, results}))
        making_.chain({std::move(call), device, {op}}, after);
    }
    const auto copy = [&](DevicePointer to, DevicePointer from, size_t output) {
      if (const Bytes bytes = body.value(body.outputs[output]).type.size(); bytes > Bytes())
        making_.chain({Copy{to, from, bytes}, device, {op}}, after);
    };
    std::vector<DevicePointer> from = addresses(body.outputs);
    for (size_t r = 0; r < body.outputs.size(); ++r)
      if (aside[r]) {
        const DevicePointer to =
            making_.memory.address(memory) + static_cast<uint64_t>(aside[r]->count());
        copy(to, std::exchange(from[r], to), r);
      }
    for (size_t r = 0; r < body.outputs.size(); ++r)
      copy(where.results[r], from[r], r);
    making_.memory.give_back(memory, after.frontier(making_.graph, device, {op}));
  }

  void guard(ValueId result, LogicalId device, ThreadId thread, OpId op, Dependencies& after) {
    if (!guards_to_)
      return;
    const auto [at, size] = making_.memory.padding(device, thread, program_.value(result).buffer);
    if (size > Bytes())
      making_.chain({Fill{at, size, kGuardByte}, device, {op}}, after);
  }

  void look_at_guard(ValueId result, LogicalId device, ThreadId thread, OpId op,
                     Dependencies& after) {
    if (!guards_to_)
      return;
    const auto [at, size] = making_.memory.padding(device, thread, program_.value(result).buffer);
    if (size == Bytes())
      return;
    const Bytes to = guards_.empty() ? Bytes() : guards_.back().to + guards_.back().size;
    making_.chain({Copy{*guards_to_ + static_cast<uint64_t>(to.count()), at, size}, device, {op}},
                  after);
    guards_.push_back({result, device, size, to});
  }

  void observe(ValueId value, LogicalId device, ThreadId thread, OpId op, Dependencies& after) {
    const auto found = observed_.find({value, device});
    const Bytes size = program_.value(value).type.size();
    if (found != observed_.end() && size > Bytes())
      making_.chain(
          {Copy{found->second, making_.memory.address(device, thread, value), size}, device, {op}},
          after);
  }

  void drop_if_over(CollectiveId id) {
    std::optional<CollectiveBuilder>& running = running_[id.index()];
    if (!running->is_over())
      return;
    running->end();
    running.reset();
  }

  const Program& program_;
  const Lowered& lowered_;
  const ProgramLists lists_;
  const Futures futures_;
  Bodies bodies_;
  const Holders holders_;
  Making making_;
  ListEvents events_;
  const std::map<OpId, MatrixProduct>& products_;
  const std::optional<DevicePointer> guards_to_;
  std::vector<Guard> guards_;
  std::vector<std::optional<CollectiveBuilder>> running_;  // per collective
  std::map<std::pair<ValueId, LogicalId>, DevicePointer> observed_;
};

}  // namespace

Built build_graph(const Program& program, const Lowered& lowered, const ArenaLayout& layout,
                  const BuildOptions& options) {
  return GraphBuilder(program, lowered, layout, options).build();
}

}  // namespace orrery::cuda
