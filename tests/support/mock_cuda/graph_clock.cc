#include "tests/support/mock_cuda/graph_clock.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace orrery::mock_cuda {
namespace {

std::vector<int64_t> ends_alone(const std::vector<ClockedNode>& nodes, int64_t begin) {
  std::vector<int64_t> ends(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    int64_t start = begin;
    for (const size_t before : nodes[n].after)
      start = std::max(start, ends[before]);
    ends[n] = start + nodes[n].latency_ps + nodes[n].moves_ps;
  }
  return ends;
}

/// Goes from one instant at which a node begins to move data or ends to the next such instant.
class SharedClock {
 public:
  SharedClock(const std::vector<ClockedNode>& nodes, int64_t begin)
      : nodes_(nodes),
        now_(static_cast<double>(begin)),
        moves_at_(nodes.size()),
        left_(nodes.size()),
        ends_(nodes.size()),
        waits_(nodes.size()),
        successors_(nodes.size()) {
    for (size_t n = 0; n < nodes.size(); ++n) {
      left_[n] = static_cast<double>(nodes[n].moves_ps);
      waits_[n] = nodes[n].after.size();
      for (const size_t before : nodes[n].after)
        successors_[before].push_back(n);
    }
  }

  std::vector<int64_t> run() {
    for (size_t n = 0; n < nodes_.size(); ++n)
      if (waits_[n] == 0)
        start(n);
    while (!started_.empty())
      step();
    return ends_;
  }

 private:
  void start(size_t n) {
    moves_at_[n] = now_ + static_cast<double>(nodes_[n].latency_ps);
    started_.push_back(n);
  }
  bool moves(size_t n) const { return moves_at_[n] <= now_; }

  void step() {
    std::map<int, int> moving;  // per device
    for (const size_t n : started_)
      moving[nodes_[n].device] += moves(n) ? 1 : 0;
    double next = std::numeric_limits<double>::infinity();
    for (const size_t n : started_)
      next = std::min(next, moves(n) ? now_ + left_[n] * moving[nodes_[n].device] : moves_at_[n]);
    std::vector<size_t> over;
    for (const size_t n : started_) {
      if (!moves(n))
        continue;
      const double share = moving[nodes_[n].device];
      const bool ends = now_ + left_[n] * share <= next;
      left_[n] -= (next - now_) / share;
      if (ends)
        over.push_back(n);
    }
    now_ = next;
    for (const size_t n : over) {
      ends_[n] = std::llround(now_);
      std::erase(started_, n);
      for (const size_t after : successors_[n])
        if (--waits_[after] == 0)
          start(after);
    }
  }

  const std::vector<ClockedNode>& nodes_;
  double now_;
  std::vector<double> moves_at_;  // per node, once it has started
  std::vector<double> left_;      // remaining ps of moving data, if alone on the device
  std::vector<int64_t> ends_;
  std::vector<size_t> waits_;
  std::vector<std::vector<size_t>> successors_;
  std::vector<size_t> started_;
};

}  // namespace

std::vector<int64_t> ends_of(const std::vector<ClockedNode>& nodes, int64_t begin,
                             Sharing sharing) {
  return sharing == Sharing::Yes ? SharedClock(nodes, begin).run() : ends_alone(nodes, begin);
}

}  // namespace orrery::mock_cuda
