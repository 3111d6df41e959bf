#include "models/program/program.h"

namespace orrery {

std::vector<std::optional<ThreadId>> threads_by_device(const Program& program) {
  std::vector<std::optional<ThreadId>> threads(program.mesh.devices());
  for (size_t t = 0; t < program.threads.size(); ++t)
    for (const LogicalId device : program.threads[t].devices)
      threads[device.index()] = ThreadId(t);
  return threads;
}

}  // namespace orrery
