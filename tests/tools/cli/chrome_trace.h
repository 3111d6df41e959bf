#pragma once

// Reads a Chrome trace by its format alone (the Trace Event Format document): complete events,
// metadata, counters and flows. The reader knows nothing about Orrery but the names that the trace
// shows.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace orrery::test {

/// A `Slice` is a complete event. The format's microseconds, as doubles, are exact to the
/// picosecond up to 2^53 ps.
struct Slice {
  std::string process;
  std::string thread;
  int64_t row = 0;  // tells apart threads with one name
  std::string category;
  std::string name;
  int64_t begin_ps = 0;
  int64_t end_ps = 0;
  int64_t bytes = 0;  // in a row of a link: bytes that crossed it
};

struct ChromeTrace {
  struct Flow {
    int starts = 0;
    int ends = 0;
    int64_t start_ps = 0;
    int64_t end_ps = 0;
  };

  explicit ChromeTrace(const std::string& text);

  std::vector<Slice> slices;  // by row, begin and end
  std::map<std::pair<std::string, std::string>, std::vector<int64_t>> counters;  // process, series
  std::map<int64_t, Flow> flows;                                                 // by id
};

}  // namespace orrery::test
