#pragma once

// This is a table of nccl-tests, which one run of one of its programs printed, or would print by
// our model. This folder reads, writes and makes such tables:
//  - read_nccl_tables() reads a file. text_reader.h and json_reader.cc make drafts (draft.h) of its
//    tables, which keep the digits that were printed. A draft is identified, checked and becomes a
//    table.
//  - nccl_text() and nccl_json() write a table byte for byte as nccl-tests does.
//  - perf.h makes a table. Each row is a call (call.h), which is a program of ours that is timed.
//  - collective.h has the arithmetic that all of these share: elements of a size, algbw and busbw.
//  - decimal.h reads and writes figures without loss.
// README.md has the forms of tables, and what is refused. A table that is read and written again
// has the same bytes. tools/calibrate fits clusters to tables that are read.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/quantity.h"
#include "models/scenario/size_limits.h"
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

/// Facts about a file that it does not state itself.
struct NcclReadOptions {
  std::optional<NcclCollective> collective;
  std::optional<uint32_t> ranks;  // from 1 to kMostNcclRanks
  Limits limits;
};

/// Returns the file's tables in their order, at least one. Text that begins with "{" is JSON.
/// UTF-16 after its byte order mark is read too, and codes for colours are left out. Throws
/// InputError with every error of the file: wrong rows, a table without rows, one that contradicts
/// itself or the options, and one whose collective or ranks neither it nor the options tell.
std::vector<NcclTable> read_nccl_tables(std::string_view text, const std::string& file,
                                        const NcclReadOptions& options = {});

// writer.cc writes a table as nccl-tests prints it and as its -J does, byte for byte
// (NVIDIA/nccl-tests at a0b82b2, 2.19.6: src/util.cu). Parsers of nccl-tests' output read both.

/// This says where a modelled table is from, which a machine's table does not say.
struct NcclOrigin {
  std::string modelled;               // a comment: "modelled on a100-sxm-8, orrery 0.1.0"
  std::vector<std::string> assumed;   // further comments
  std::optional<std::string> bound;   // a comment: how close times come to the fabric's bound
  std::optional<Bytes> reduced_most;  // the largest size, if it is not the settings'
  /// The arguments of the command, with its own name first. Only JSON has them.
  std::vector<std::string> arguments;
};

/// This is the version of nccl-tests whose format is written.
inline constexpr std::string_view kWrittenVersion = "2.19.6";

/// Returns how many placements of rows have wrong elements, which the last lines of a table state.
int64_t wrong_placements(const NcclTable& table);

/// Returns the table as text. The version of NCCL is 0, as no NCCL ran. All ranks are listed on one
/// host, which is called orrery. Each text of `origin` is a comment line. Requires settings, rows,
/// and one device name.
std::string nccl_text(const NcclTable& table, const NcclOrigin& origin);

/// Returns the table as JSON, with the same requirements. No clock is read: the run starts and ends
/// at 1970-01-01 00:00:00. The texts of `origin` are in an environment variable ORRERY.
std::string nccl_json(const NcclTable& table, const NcclOrigin& origin);

}  // namespace orrery
