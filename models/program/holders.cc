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
  for (const Thread& thread : program.threads) {
    for (const OpId op : thread.issue_order)
      for (const ValueId result : program.op(op).results)
        list_[result.index()] = lists_.size();
    lists_.push_back(thread.devices);
  }
}

}  // namespace orrery
