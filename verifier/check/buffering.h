#pragma once

// Whether a program with psend and precv ends if nothing is buffered, and else how much must be. It
// is walked without time, each psend waiting until its precv is reached, whatever the ops' "entry".

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
  /// The least k such that the program ends if each list of a device may have k messages that it
  /// has sent and whose precv is not reached yet; empty if it ends for no k. A psend that finds no
  /// place waits for its precv, or for a place.
  std::optional<uint32_t> messages;
  bool least = true;           // false: with other started sends kept, fewer may be enough
  std::vector<Buffered> kept;  // in the order in which nothing else could go on
};

/// No psend's choice changes what another may do later: more that has happened never makes one
/// wait. So buffering only where all is stuck gives the least number, unless started psends of one
/// device wait together: of them the first in issue order is buffered, and another might do with
/// less.
BufferNeed buffer_need(const Program& program, const Lowered& lowered);

/// Whether the need is 0 (SENDS.UNBUFFERED); nothing without psend and precv. If not: the number,
/// and the messages.
std::optional<Check> sends_unbuffered(const Program& program, const Lowered& lowered);

/// Whether the need is no more than that many (SENDS.BUFFERED), for an expectation `of`. The number
/// is told in any case.
Check sends_buffered(const Program& program, const Lowered& lowered, int64_t most,
                     const std::string& of);

}  // namespace orrery
