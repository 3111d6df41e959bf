#pragma once

// What a walker did, in one number: the digests of all walkers of a run are compared with each
// other and with the schedule's own, so a walker that skips, repeats or invents a half is caught.

#include <cstdint>

#include "models/base/hash.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// Independent of the order in which halves retire.
class Digest {
 public:
  void add(CollectiveId collective, StepRef ref, Half half, Bytes bytes) {
    add(Halves(collective, ref.channel, half), ref, bytes);
  }

  /// What halves of one kind on one channel number have in common: loops work it out once.
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
    const uint64_t place = (uint64_t{ref.node.index()} << 32U) | ref.index;
    sum_ += fold(place ^ 0x9e3779b97f4a7c15U, halves.term_ + static_cast<uint64_t>(bytes.count()));
  }

  /// Adds what another part of the same walk did.
  void add(Digest part) { sum_ += part.sum_; }
  uint64_t value() const { return sum_; }
  friend bool operator==(Digest, Digest) = default;

 private:
  uint64_t sum_ = 0;
};

/// Bytes that a half is charged in the digest: its payload, where it receives, stores or sends one.
inline Bytes digest_bytes(const Step& step, Half half, Bytes itemsize) {
  if (half == Half::Send && !step.to)
    return Bytes();
  return itemsize * step.count();
}

/// The digest of a walk that does every half of the schedule once: adds it to `digest`.
void add_all(Digest& digest, CollectiveId collective, const Schedule& schedule, Bytes itemsize);

}  // namespace orrery
