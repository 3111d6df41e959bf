#pragma once

// Whether a program with psend and precv ends if nothing is buffered, and how many messages must be
// buffered if it does not. The program is walked without time. Each psend waits until its precv is
// reached, whatever "entry" the ops have.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "verifier/verdict.h"

namespace orrery {

/// A message that was kept for a device that had not reached its precv.
struct Buffered {
  OpId send;
  LogicalId from;
  LogicalId to;
};

struct BufferNeed {
  /// The least k such that the program ends if each list of a device may have sent k messages whose
  /// precv is not reached yet; empty if it ends for no k. A psend that finds no place waits for its
  /// precv, or for a place.
  std::optional<uint32_t> messages;
  bool least = true;           // whether no choice of the sends that are kept needs fewer
  std::vector<Buffered> kept;  // in the order in which nothing else could go on
};

/// Progress of one psend never makes another wait. So buffering only where all is stuck gives the
/// least number, unless started psends of one device wait together. Then the first in issue order
/// is buffered, and another choice might need fewer.
BufferNeed buffer_need(const Program& program, const Lowered& lowered);

/// Whether the need is 0 (SENDS.UNBUFFERED); empty without psend and precv. A check that fails has
/// the number and the messages.
std::optional<Check> sends_unbuffered(const Program& program, const Lowered& lowered);

/// Whether the need is at most `most` (SENDS.BUFFERED), for the expectation `of`. The message has
/// the number in any case.
Check sends_buffered(const Program& program, const Lowered& lowered, int64_t most,
                     const std::string& of);

}  // namespace orrery
