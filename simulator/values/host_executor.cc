#include "simulator/values/host_executor.h"

#include <utility>

#include "simulator/values/host_visitor.h"

namespace orrery {

HostRun execute(const Program& program, const Lowered& lowered, DeviceValues arguments) {
  HostVisitor visitor(program, lowered, arguments);
  Stop stop = walk(program, lowered, visitor);
  return {std::move(arguments), visitor.digest(), std::move(stop)};
}

}  // namespace orrery
