#pragma once

// Scenarios with loops, timed with iterations left out and with all of them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/reader.h"
#include "verifier/stages.h"

namespace orrery::test {

inline const std::string kSwitch =
    R"("topology": "switch", "bandwidth": "50 GB/s", "latency": "1 us", "launch": "1 us",
       "memory_bandwidth": "1 TB/s")";
/// Both directions of a ring carry messages of several collectives at once.
inline const std::string kRing =
    R"("topology": "ring", "bandwidth": "10 GB/s", "latency": "100 ns", "launch": "100 ns",
       "memory_bandwidth": "100 GB/s")";

/// On four devices, 2 by 2, with an f32 array "a" of 4096 elements.
std::string scenario_text(const std::string& cluster, const std::string& program);

std::string loop(const std::string& id, int64_t trips, const std::string& carry,
                 const std::string& body, const std::string& yield);

/// A loop "m" of 40 iterations in a loop that carries "h": it sums "h" over "x" and adds "a".
std::string inner_loop();

/// The device's local ops take `times` / `by` as long.
Fault slow(uint32_t device, int64_t times, int64_t by);

/// One program with its stages.
struct Timed {
  Scenario given;
  WrittenScenario written;
  std::optional<Program> looped;
  const Scenario& scenario;
  Diagnostics diagnostics{"f"};
  Stages stages;

  Timed(const std::string& text, LongLoops long_loops, std::vector<Fault> faults);
};

struct Outcome {
  bool left_out = false;
  uint32_t left_out_period = 0;  // the longest
  uint64_t added = 0;
  uint64_t longest_period = 0;
  TimedBy by = TimedBy::Sweep;
};

/// Compares the two forms in everything that both know.
Outcome check_same(const std::string& text, const std::vector<Fault>& faults = {});

}  // namespace orrery::test
