#pragma once

// Memory of a device beside its arena: the slots of messages, and work elements that are wider than
// those that the program is charged for. It is given out in the order in which the graph is built.
// Who gets memory that another has used waits for that one's last use: an edge to a node that is
// there already, so that no cycle can arise.

#include <cstdint>
#include <map>

#include "models/base/quantity.h"
#include "simulator/memory/placement.h"
#include "simulator/values/cuda/frontier.h"

namespace orrery::cuda {

class ReusePool {
 public:
  /// Of every size that is given out: as the driver aligns its own.
  static constexpr int64_t kAlignment = 256;

  /// Where the memory begins. Adds to `after` what must have ended before it is used.
  Bytes take(Bytes size, Dependencies& after);

  /// Gives back what take(size) returned, once `last_use` has happened.
  void give_back(Bytes begin, Bytes size, const Frontier& last_use);

  Bytes high_water() const { return placement_.high_water(); }

 private:
  struct Used {
    int64_t end = 0;
    Frontier last;
  };

  /// Cuts a stretch in two at `at`, if it lies inside one.
  void split(int64_t at);

  Placement placement_;
  std::map<int64_t, Used> used_;  // by begin: free memory, and who used it last
};

}  // namespace orrery::cuda
