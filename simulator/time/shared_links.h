#pragma once

// Which threads may ask for the same link at the same time.

#include <cstdint>
#include <vector>

#include "models/base/callable.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// Per thread: the least thread of its set. Threads of different sets never send over the same link
/// of those that `counts` accepts. Requires routes.
std::vector<uint32_t> threads_by_shared_links(const Program& program, const Lowered& lowered,
                                              Paths& paths, FunctionRef<bool(LinkId)> counts);

}  // namespace orrery
