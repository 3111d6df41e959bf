#include "models/program/holders.h"

namespace orrery {

std::vector<LogicalId> held_on(std::span<const LogicalId> devices, const Attributes& attributes) {
  std::vector<LogicalId> held;
  for (const int64_t id : attributes.integers("devices"))
    if (const LogicalId device(static_cast<size_t>(id)); index_among(devices, device))
      held.push_back(device);
  return held;
}

Holders::Holders(const Program& program) : list_(program.values.size(), 0) {
  lists_.push_back(all_devices(program.mesh));
  for (const Argument& argument : program.arguments) {
    if (argument.on) {
      list_[argument.value.index()] = lists_.size();
      lists_.push_back(*argument.on);
    }
  }
  const size_t first_thread = lists_.size();
  for (const Thread& thread : program.threads)
    lists_.push_back(thread.devices);
  for (size_t t = 0; t < program.threads.size(); ++t)
    for (const OpId id : program.threads[t].issue_order) {
      const Op& op = program.op(id);
      size_t list = first_thread + t;
      if (op.kind == OpKind::HeldOn) {
        list = lists_.size();
        lists_.push_back(held_on(program.threads[t].devices, op.attributes));
      }
      for (const ValueId result : op.results)
        list_[result.index()] = list;
    }
  for (const Loop& loop : program.loops) {
    const size_t own = first_thread + loop.thread.index();
    for (const Carry& carry : loop.carries)
      list_[carry.param.index()] = list_[carry.result.index()] = own;
    for (const Exit& exit : loop.exits)
      list_[exit.outside.index()] = own;
  }
}

}  // namespace orrery
