#pragma once

// A Digest turns a walk into a number. The digests of all walkers of a run are compared with each
// other and with the schedule's own. This detects a walker that skips, repeats or adds a half, and
// one that moves other elements than the schedule says.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "models/base/hash.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// A Digest does not depend on the order in which halves retire. That of a collective is the digest
/// of its steps times an odd number of its own, so that equal steps of many collectives are added
/// up once.
class Digest {
 public:
  void add(CollectiveId collective, StepRef ref, Half half, Bytes bytes) {
    sum_ += word(Halves(ref.channel, half), ref, bytes) * factor(collective);
  }

  /// Halves is the part of a key that all receive halves, or all send halves, of one channel number
  /// share. Loops compute it once.
  class Halves {
   public:
    Halves(Channel channel, Half half)
        : term_(((uint64_t{channel.index()} << 1U) | (half == Half::Send ? 1U : 0U)) *
                    0xd1342543de82ef95U +
                0xa0761d6478bd642fU) {}

   private:
    friend class Digest;
    uint64_t term_;
  };
  /// Adds a half of collective 0.
  void add(Halves halves, StepRef ref, Bytes bytes) { sum_ += word(halves, ref, bytes); }

  /// Adds one action that moved `bytes`. They begin at element `slice->first` of the slice's area;
  /// if the action names no slice, they are the payload itself.
  void add_move(CollectiveId collective, StepRef ref, ActionKind action, const Slice* slice,
                Bytes bytes) {
    const uint64_t where =
        slice == nullptr
            ? 0
            : (static_cast<uint64_t>(slice->first) << 2U | static_cast<uint64_t>(slice->area)) + 1;
    const Halves key(ref.channel, Half::Receive);
    const uint64_t what = mix(where ^ 0x8ebc6af09c88c6e3U,
                              (uint64_t{static_cast<uint8_t>(action)} + 1) * 0x589965cc75374cc3U +
                                  static_cast<uint64_t>(bytes.count()));
    sum_ += mix(step_of(ref), key.term_ ^ what) * factor(collective);
  }

  /// Adds the digest of another part of the same walk.
  void add(Digest part) { sum_ += part.sum_; }
  /// Returns the digest of the same steps in another collective. Requires a digest of collective 0.
  Digest in(CollectiveId collective) const { return repeated(factor(collective)); }
  /// Returns the digest of this walk repeated `times` times.
  Digest repeated(uint64_t times) const {
    Digest all;
    all.sum_ = sum_ * times;
    return all;
  }
  /// Returns the digest of what was added after `before`, an earlier digest of the same walk.
  Digest since(Digest before) const {
    Digest part;
    part.sum_ = sum_ - before.sum_;
    return part;
  }
  uint64_t value() const { return sum_; }
  friend bool operator==(Digest, Digest) = default;

 private:
  static uint64_t step_of(StepRef ref) {
    return ((uint64_t{ref.node.index()} << 32U) | ref.index) ^ 0x9e3779b97f4a7c15U;
  }
  static uint64_t word(Halves halves, StepRef ref, Bytes bytes) {
    return mix(step_of(ref), halves.term_ + static_cast<uint64_t>(bytes.count()));
  }
  static uint64_t factor(CollectiveId collective) {
    return uint64_t{collective.index()} * 0x9fb21c651e98df26U + 1;
  }

  uint64_t sum_ = 0;
};

/// Returns the bytes that a half moves: its payload, or 0 if it touches no data.
inline Bytes bytes_moved(const Step& step, Half half, Bytes itemsize) {
  return moves_data(step.form(), half) ? itemsize * step.count() : Bytes();
}

/// A WalkDigest is the digest of a whole walk.
struct WalkDigest {
  Digest halves;
  std::optional<Digest> moves;  // of walkers that move data: every action, with its elements
  friend bool operator==(const WalkDigest&, const WalkDigest&) = default;
};

/// Adds every half of the schedule once to `halves`, and to `moves` if it is not null.
void add_all(Digest& halves, Digest* moves, CollectiveId collective, const Schedule& schedule,
             Bytes itemsize);

/// ScheduleDigests has the digests of walks that run every half of a schedule once, and move what
/// its steps say. Each is worked out once. The schedules must outlive it.
class ScheduleDigests {
 public:
  WalkDigest of(CollectiveId collective, const Schedule& schedule, Bytes itemsize);

 private:
  std::map<std::pair<const Schedule*, Bytes>, WalkDigest> known_;  // in collective 0
};

}  // namespace orrery
