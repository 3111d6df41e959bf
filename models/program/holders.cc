#include "models/program/holders.h"

namespace orrery {

Holders::Holders(const Program& program) : list_(program.values.size(), 0) {
  lists_.push_back(all_devices(program.mesh));
  for (const Argument& argument : program.arguments) {
    if (argument.on) {
      list_[argument.value.index()] = lists_.size();
      lists_.push_back(*argument.on);
    }
  }
  const size_t first_thread = lists_.size();
  for (const Thread& thread : program.threads) {
    for (const OpId op : thread.issue_order)
      for (const ValueId result : program.op(op).results)
        list_[result.index()] = lists_.size();
    lists_.push_back(thread.devices);
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
