#pragma once

#include "models/base/callable.h"

namespace orrery {

/// Calls `work` in so many threads, of which the caller's is one, and waits until all have
/// returned. If the system has no more threads, fewer do the work. `work` throws nothing.
void run_in_threads(unsigned threads, FunctionRef<void()> work);

}  // namespace orrery
