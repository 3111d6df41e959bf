#pragma once

// The causes that become edges of the work graph. Tests leave one away on purpose, to see that it
// is found.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "simulator/schedule/causes.h"
#include "simulator/values/cuda/frontier.h"

namespace orrery::cuda {

/// Of what kind a cause is: of a half (CauseKind), of a list (Moment), or of a member's end.
enum class EdgeKind : uint8_t { Enter, Order, After, Message, Credit, List, End };
inline constexpr size_t kEdgeKinds = 7;

/// The number-th cause of the kind, counted in the order of building.
struct OmittedCause {
  EdgeKind kind = EdgeKind::Message;
  uint64_t number = 0;
  friend bool operator==(const OmittedCause&, const OmittedCause&) = default;
};

/// How many causes of each kind there are.
using CauseCounts = std::array<uint64_t, kEdgeKinds>;

class CauseEdges {
 public:
  explicit CauseEdges(std::optional<OmittedCause> omitted) : omitted_(omitted) {}

  void add(EdgeKind kind, const Frontier& cause, Dependencies& to) {
    const uint64_t number = counts_[static_cast<size_t>(kind)]++;
    if (omitted_ != OmittedCause{kind, number})
      to.add(cause);
  }
  void add(CauseKind kind, const Frontier& cause, Dependencies& to) {
    add(static_cast<EdgeKind>(kind), cause, to);
  }

  const CauseCounts& counts() const { return counts_; }

 private:
  const std::optional<OmittedCause> omitted_;
  CauseCounts counts_ = {};
};

}  // namespace orrery::cuda
