#pragma once

// What the interpreter makes of a thread block's steps, as the parsers of RCCL and MSCCL do
// (mscclGetAlgoFromXmlFile): consecutive re steps into the same place become one transfer, and the
// waits of nops become waits of the next transfer. A wait of another thread block compares numbers
// that count what was made.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "simulator/schedule/schedule.h"

namespace orrery {

/// What the parsers look at of a step.
struct ParsedStep {
  std::string_view type;
  bool waits = false;      // it names a step to wait for
  bool sets_flag = false;  // hasdep
  std::optional<Slice> source;
  std::optional<Slice> target;

  bool is_nop() const { return type == "nop"; }
};

struct Transfer {
  std::vector<uint32_t> nops;   // before it, whose waits it makes as well as its own
  std::vector<uint32_t> steps;  // one, or a chain of re
  bool sets_flag = false;       // as its last step says
  uint32_t flag = 0;            // the number that it sets
};

struct Transfers {
  std::vector<Transfer> transfers;
  std::vector<uint32_t> last_nops;  // that no transfer follows (last_nops.h)

  /// All steps in the order in which they run: nops before the transfer that makes their waits. A
  /// nop within a chain comes after the chain.
  std::vector<uint32_t> order() const;
};

Transfers transfers_of(const std::vector<ParsedStep>& steps);

}  // namespace orrery
