#pragma once

// This is a table of nccl-tests, which one run of one of its programs printed, or would print by
// our model. This folder reads, writes and makes such tables:
//  - reader.h reads a file. text_reader.h and json_reader.cc make drafts of its tables (draft.h),
//    which keep the digits that were printed. A draft is identified, checked and becomes a table.
//  - writer.h writes a table byte for byte as nccl-tests does.
//  - perf.h makes a table. Each row is a call (call.h), which is a program of ours that is timed.
//  - collective.h has the arithmetic that all of these share: elements of a size, algbw and busbw.
//  - decimal.h reads and writes figures without loss.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/quantity.h"
#include "tools/nccl_tests/collective.h"

namespace orrery {

/// The figures of a row for one placement. Times and bandwidths are exactly as printed.
struct NcclFigures {
  Duration time;                        // of one call: the mean over the iterations
  std::optional<BytesPerSecond> algbw;  // empty: not printed, or no number ("nan")
  std::optional<BytesPerSecond> busbw;
  std::optional<int64_t>
      wrong;  // elements; empty if not checked ("N/A"), and for the "error" of old versions
  friend bool operator==(const NcclFigures&, const NcclFigures&) = default;
};

struct NcclRow {
  Bytes size;
  std::optional<int64_t> count;
  std::string type;              // "float"; empty if it is not printed
  std::string redop;             // "sum", "none"; empty if it is not printed
  std::optional<uint32_t> root;  // empty if it is not printed or -1
  std::optional<NcclFigures> out_of_place;
  std::optional<NcclFigures> in_place;
  uint32_t line = 0;  // in the file, from 1; 0 if it is from no file
  friend bool operator==(const NcclRow&, const NcclRow&) = default;
};

/// The settings of the line "# nThread ..", in its order.
struct NcclSettings {
  uint32_t threads = 1;                    // -t, per process
  uint32_t gpus = 1;                       // -g, per thread
  Bytes least = Bytes(int64_t{32} << 20);  // -b
  Bytes most = Bytes(int64_t{32} << 20);   // -e
  int64_t step = int64_t{1} << 20;         // -i in bytes, or -f
  bool step_is_factor = false;
  int64_t warmup = 1;       // -w
  int64_t iterations = 20;  // -n
  int64_t aggregated = 1;   // -m
  int64_t checks = 1;       // -c
  friend bool operator==(const NcclSettings&, const NcclSettings&) = default;
};

struct NcclTable {
  NcclCollective collective = NcclCollective::AllReduce;
  uint32_t ranks = 1;
  std::optional<uint32_t> hosts;
  std::optional<NcclSettings> settings;           // threads times gpus divides the ranks
  std::optional<std::string> nccl_version;        // "2.26.6"
  std::optional<std::string> nccl_tests_version;  // "2.19.6"
  std::vector<std::string> device_names;          // each once, in the order of ranks
  std::string file;                               // the file that was read
  std::string source;                             // where the table is from, if the file says so
  uint32_t line = 0;  // that of the header, or of the table's JSON value
  std::vector<NcclRow> rows;
  std::vector<std::string> notes;  // sentences about what was inferred and what does not agree

  /// Returns the number of processes. The result is empty if the threads and gpus of one process
  /// are not known.
  std::optional<uint32_t> processes() const {
    if (!settings)
      return std::nullopt;
    return ranks / (settings->threads * settings->gpus);
  }
};

}  // namespace orrery
