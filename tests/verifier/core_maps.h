#pragma once

// Scenarios of one mpmd_map, for tests.

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace orrery::test::cores {

/// A vector core reads or writes a byte of vmem in 1 ps, and does a flop of f32 in 2 ps. All cores
/// together read or write a byte of the device's memory in 1 ps.
inline constexpr const char* kCores =
    R"("memory_bandwidth": "1 TB/s", "launch": "1 us", "flops": {"f32": "1 TFLOP/s"},
   "cores": {"vector": {"cores": 2, "subcores": 16, "flops": {"f32": "500 GFLOP/s"},
              "launch": "3 us", "spaces": {"vmem": {"size": "128 B", "bandwidth": "1 TB/s"}}},
             "scalar": {"cores": 2, "launch": "2 us"}})";

/// Returns a scenario of one mpmd_map. "a" is an f32[16,8]: a row has 32 bytes.
inline std::string scenario(const std::string& functions, const std::string& scratch,
                            const std::string& figures = kCores, const std::string& more = "") {
  return fmt::format(
      R"({{"orrery": 1, "mesh": {{"x": 2}},
 "cluster": {{"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us", {}}},
 "arrays": {{"a": {{"shape": [16, 8], "dtype": "f32", "init": "iota"}}}},
 "program": [{{"id": "m", "op": "mpmd_map", "of": "a",
   "out": [{{"shape": [16, 8], "dtype": "f32"}}], "scratch": {{{}}},
   "functions": [{}]}}], "outputs": ["m"]{}}})",
      figures, scratch, functions, more);
}

inline std::string vector(int64_t cores, int64_t subcores, const std::string& body) {
  return fmt::format(
      R"({{"mesh": {{"type": "vector", "name": "v", "core_axis": "c", "cores": {}, "subcore_axis": "s", "subcores": {}}},
       "body": [{}]}})",
      cores, subcores, body);
}

inline std::string scalar(int64_t cores, const std::string& body) {
  return fmt::format(
      R"({{"mesh": {{"type": "scalar", "name": "z", "core_axis": "c", "cores": {}}}, "body": [{}]}})",
      cores, body);
}

inline const std::string kRowToT = R"({"op": "copy", "from": ["in0", {"row": "s"}], "to": "t"})";
inline const std::string kTToRow = R"({"op": "copy", "from": "t", "to": ["out0", {"row": "s"}]})";
inline const std::string kT =
    R"("t": {"shape": [8], "dtype": "f32", "space": "vmem", "core": "v"})";

}  // namespace orrery::test::cores
