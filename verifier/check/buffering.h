#pragma once

// These checks find whether a program with psend and precv ends if nothing is buffered, and how
// many messages must be buffered if it does not. The program is walked without time. Each psend
// waits until its precv is reached, whatever "entry" the ops have.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "verifier/verdict.h"

namespace orrery {

/// This is a message that was kept for a device that had not reached its precv.
struct Buffered {
  OpId send;
  LogicalId from;
  LogicalId to;
};

struct BufferNeed {
  /// The least k such that the program ends if each device may have k messages under way whose
  /// precv is not reached yet. It is empty if the program ends for no k. A psend for which there is
  /// no room waits for its precv, or for room.
  std::optional<uint32_t> messages;
  bool least = true;           // whether no choice of the sends that are kept needs fewer
  std::vector<Buffered> kept;  // in the order in which nothing else could go on
};

/// Returns how many messages must be buffered. Progress of one psend never makes another wait. So
/// buffering only where all is stuck gives the least number, unless started psends of one device
/// wait together. Then the first in issue order is buffered, and another choice might need fewer.
BufferNeed buffer_need(const Program& program, const Lowered& lowered);

/// Checks that no message must be buffered (SENDS.UNBUFFERED). Returns nothing for a program
/// without psend and precv. A check that fails has the number and the messages. `ends` says whether
/// the program ends with the buffers of its transport, here and below.
std::optional<Check> sends_unbuffered(const Program& program, const Lowered& lowered, bool ends);

/// Checks that at most `most` messages must be buffered (SENDS.BUFFERED), for the expectation `of`.
/// The message has the number in any case.
Check sends_buffered(const Program& program, const Lowered& lowered, bool ends, int64_t most,
                     const std::string& of);

}  // namespace orrery
