#include "models/base/callable.h"

#include <system_error>
#include <thread>
#include <vector>

namespace orrery {

void run_in_threads(unsigned threads, FunctionRef<void()> work) {
  std::vector<std::thread> others;
  try {
    for (unsigned t = 1; t < threads; ++t)
      others.emplace_back([&] { work(); });
  } catch (const std::system_error&) {
    // Fewer threads do the work.
  }
  work();
  for (std::thread& thread : others)
    thread.join();
}

}  // namespace orrery
