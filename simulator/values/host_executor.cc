#include "simulator/values/host_executor.h"

#include <utility>

#include "simulator/values/host_visitor.h"

namespace orrery {

HostRun execute(const Program& program, const Lowered& lowered, DeviceValues arguments) {
  HostRun run{std::move(arguments), {}, {}};
  HostVisitor visitor(program, lowered, run.values);
  run.stop = walk(program, lowered, visitor);
  run.digest = visitor.digest();
  return run;
}

}  // namespace orrery
