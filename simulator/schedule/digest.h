#pragma once

// A Digest turns a walk into a number. The digests of all walkers of a run are compared with each
// other and with the schedule's own. This detects a walker that skips, repeats or adds a half, and
// one that moves other elements than the schedule says.

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "models/base/hash.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// A Digest does not depend on the order in which halves retire.
class Digest {
 public:
  void add(CollectiveId collective, StepRef ref, Half half, Bytes bytes) {
    add(Halves(collective, ref.channel, half), ref, bytes);
  }

  /// Halves is the part of a key that all receive halves, or all send halves, of one channel number
  /// of a collective share. Loops compute it once.
  class Halves {
   public:
    Halves(CollectiveId collective, Channel channel, Half half)
        : term_(((uint64_t{collective.index()} << 32U) | (uint64_t{channel.index()} << 1U) |
                 (half == Half::Send ? 1U : 0U)) *
                    0xd1342543de82ef95U +
                0xa0761d6478bd642fU) {}

   private:
    friend class Digest;
    uint64_t term_;
  };
  void add(Halves halves, StepRef ref, Bytes bytes) {
    const uint64_t step = (uint64_t{ref.node.index()} << 32U) | ref.index;
    sum_ += mix(step ^ 0x9e3779b97f4a7c15U, halves.term_ + static_cast<uint64_t>(bytes.count()));
  }

  /// Adds one action that moved `bytes`. They begin at element `slice->first` of the slice's area;
  /// if the action names no slice, they are the payload itself.
  void add_move(CollectiveId collective, StepRef ref, ActionKind action, const Slice* slice,
                Bytes bytes) {
    const uint64_t where =
        slice == nullptr
            ? 0
            : (static_cast<uint64_t>(slice->first) << 2U | static_cast<uint64_t>(slice->area)) + 1;
    const Halves key(collective, ref.channel, Half::Receive);
    const uint64_t step = (uint64_t{ref.node.index()} << 32U) | ref.index;
    const uint64_t what = mix(where ^ 0x8ebc6af09c88c6e3U,
                              (uint64_t{static_cast<uint8_t>(action)} + 1) * 0x589965cc75374cc3U +
                                  static_cast<uint64_t>(bytes.count()));
    sum_ += mix(step ^ 0x9e3779b97f4a7c15U, key.term_ ^ what);
  }

  /// Adds the digest of another part of the same walk.
  void add(Digest part) { sum_ += part.sum_; }
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
  const WalkDigest& of(CollectiveId collective, const Schedule& schedule, Bytes itemsize);

 private:
  std::map<std::tuple<const Schedule*, CollectiveId, Bytes>, WalkDigest> known_;
};

}  // namespace orrery
