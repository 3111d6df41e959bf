#pragma once

// Times scenarios with loops twice: with iterations left out, and with all iterations.

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
/// On this ring, both directions carry messages of several collectives at once.
inline const std::string kRing =
    R"("topology": "ring", "bandwidth": "10 GB/s", "latency": "100 ns", "launch": "100 ns",
       "memory_bandwidth": "100 GB/s")";

/// Returns a scenario on four devices, 2 by 2, with an f32 array "a" of 4096 elements.
std::string scenario_text(const std::string& cluster, const std::string& program);

std::string loop(const std::string& id, int64_t trips, const std::string& carry,
                 const std::string& body, const std::string& yield);

/// Returns a loop "m" of 40 iterations that carries "h": it sums "h" over "x" and adds "a".
std::string inner_loop();

/// Returns the fault by which the device's local ops take `times` / `by` as long.
Fault slow(uint32_t device, int64_t times, int64_t by);

/// A `Timed` is one program with its stages.
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

/// Checks that the program with left-out iterations and the program with all iterations agree in
/// everything that both know.
Outcome check_same(const std::string& text, const std::vector<Fault>& faults = {});

}  // namespace orrery::test
