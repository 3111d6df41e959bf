#pragma once

// This folder is the command line. This file has the commands as plain data, and the functions that
// carry them out.
//  1. main() calls run_command_line() with the arguments and the terminal.
//  2. parse_command_line() (parse.cc) parses the arguments into one of the structs here. Each
//     option is a member of its command's struct. It is declared to CLI11 in parse.cc, options.cc
//     or nccl_tests_options.cc. The flags of `orrery perf` are the table in perf_flags.cc.
//  3. execute() of that struct, in NAME_command.cc, reads its inputs (inputs.h), changes them by
//     options such as --cluster-figure (overrides.h), calls the library, and writes the result.
//  4. Wrong input throws InputError. run_command_line() (command_line.cc) is the only place that
//     turns exceptions into messages and exit codes (Outcome).
// Commands read and write only through Terminal and inputs.h, so tests run them
// without a process. Completions and the manual page come from the parser's own declarations
// (command_tree.h). To add a command, add a struct and an execute() here, its options in parse.cc,
// and its file NAME_command.cc.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "simulator/values/cuda/driver/driver.h"
#include "tools/cli/ci.h"
#include "tools/cli/inputs.h"
#include "tools/report/json.h"
#include "tools/report/style.h"
#include "tools/report/text.h"
#include "tools/report/trace.h"
#include "verifier/run.h"

namespace orrery {

class PlanStore;

/// A Terminal has the output streams of the command line, and what it takes from its environment.
/// Tests replace them.
struct Terminal {
  std::ostream& out;
  std::ostream& err;
  Style style;                        // of out
  Style err_style;                    // of err
  bool progress = false;              // whether err may show progress lines that are overwritten
  std::string cuda_library = {};      // the driver of CUDA; empty: the system's
  std::string cublaslt_library = {};  // cuBLASLt; empty: the system's

  /// Returns the file to load as the driver.
  std::string library_of_cuda() const {
    return cuda_library.empty() ? cuda::kDriverLibrary : cuda_library;
  }
};

/// Shows how far a command is, on a terminal: "law.json: 30 of 100 cases, 12 a second, 6 s left".
class ProgressLine {
 public:
  ProgressLine(const Terminal& terminal, std::string file, std::string things);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(uint64_t done, uint64_t all);

 private:
  const Terminal& terminal_;
  const std::string file_;
  const std::string things_;
  bool shown_ = false;
  const double began_;  // seconds of a clock
  double last_ = began_;
};

/// Returns the terminal of stdout and stderr. They have colours on a terminal unless NO_COLOR is
/// set, and ASCII unless the locale is UTF-8. ORRERY_LIBCUDA names the driver of CUDA and
/// ORRERY_LIBCUBLASLT cuBLASLt, if set.
Terminal standard_terminal();

/// Returns the version and the commit: "orrery 0.1.0 (commit 0123456789ab)".
std::string version_text();

/// The exit codes. If there are several scenarios, the largest of their codes counts.
enum class Outcome : int {
  Holds = 0,
  Fails = 1,       // a verdict does not hold, or is undecided
  WrongInput = 2,  // a file, an option or an argument is wrong
  OurBug = 3,
};

enum class Format : uint8_t { Text, Json };

/// Says where a scenario is run, beside the model: by the host executor, or on GPUs too.
enum class Backend : uint8_t { Host, Cuda };

/// Says which parts of a run on GPUs are timed.
enum class Measure : uint8_t { Ops, Steps };

struct RunCommand {
  std::vector<std::string> paths;  // files and folders (all scenarios below them)
  bool pass_over = false;          // laws that are named too, not only those in folders
  Format format = Format::Text;
  std::optional<std::string> output;   // a file instead of stdout; with `part` a folder
  std::optional<std::string> part;     // "I/N": only run these files, into the folder
  std::vector<std::string> values;     // ids, or "all" alone
  std::optional<std::string> explain;  // an id of an op or a value
  std::vector<std::string> let;        // values of a law's names, each NAME=VALUE,..
  std::optional<std::string> trace;    // a file for the Chrome trace
  std::optional<std::string> html;     // a file for the page
  TraceOptions trace_options;
  Encoding encoding = Encoding::Values;
  TextOptions text;  // what a text report shows
  OnUndecided undecided = OnUndecided::Fail;
  CiOptions ci;
  std::optional<std::string> cluster;   // of the catalog, or a file, in place of the scenario's
  std::vector<std::string> figures;     // of the cluster, each NAME=VALUE
  std::vector<std::string> algorithms;  // each OP=ALGORITHM
  Backend backend = Backend::Host;
  std::optional<uint32_t> measured_runs;  // on GPUs
  std::optional<Measure> measure;         // on GPUs
  bool fast_dot = false;                  // on GPUs
  RunOptions options;
};

/// This command compares two runs, A and B: each is a scenario or a saved JSON report.
struct DiffCommand {
  std::string a;
  std::string b;
  Format format = Format::Text;
  std::optional<std::string> output;  // a file instead of stdout
  RunOptions options;                 // of the scenarios
};

struct VerifyCommand {
  std::vector<std::string> paths;  // files and folders (all laws below them)
  bool pass_over = false;          // scenarios that are named too, not only those in folders
  std::vector<std::string> laws;   // ids of built-in ones, or "all" alone
  uint64_t cases = 100;            // of each law
  uint64_t seed = 0;
  std::optional<uint64_t> only;  // the number of the only case
  unsigned jobs = 1;
  Format format = Format::Text;
  std::optional<std::string> output;  // a file instead of stdout; with `part` a folder
  std::optional<std::string> part;    // "I/N": only run these cases, into the folder
  CiOptions ci;
  std::optional<std::filesystem::path> folder;  // of counterexamples
  OnUndecided undecided = OnUndecided::Fail;
  Limits limits;
};

enum class PlanFormat : uint8_t { Text, Json, Csv, Html };

struct PlanCommand {
  std::string file;
  std::vector<std::string> let;         // values of names, each NAME=VALUE,..
  std::optional<std::string> find;      // "largest:NAME"
  std::optional<std::string> scenario;  // the id of a point whose scenario is written
  bool all_points = false;              // a row for each point
  PlanFormat format = PlanFormat::Text;
  std::optional<std::string> output;  // a file instead of stdout; with `part` a folder
  std::optional<std::string> part;    // "I/N": only work out these points, into the folder
  uint64_t seed = 0;
  unsigned jobs = 1;
  Limits limits;
};

/// This command writes what `orrery plan`, `verify` or `run` would, whose parts are there.
struct MergeCommand {
  std::string folder;       // of --part
  bool all_points = false;  // of plan
  PlanFormat format = PlanFormat::Text;
  std::optional<std::string> output;
  unsigned jobs = 1;
  std::optional<std::filesystem::path> counterexamples;  // their folder, of verify
  OnUndecided undecided = OnUndecided::Fail;             // of verify and run
};

struct ProveCommand {
  std::string file;
  std::optional<std::string> cluster;     // of the catalog, or a file
  std::vector<std::string> figures;       // of the cluster, each NAME=VALUE
  std::optional<std::string> definition;  // a file
  std::optional<uint32_t> slots;
  std::optional<uint32_t> root;
  std::optional<std::string> runtime;
  std::optional<std::string> size;
  CiOptions ci;
  Limits limits;
};

/// The flags of nccl-tests' programs. Sizes, operations, types and roots are as written.
struct PerfCommand {
  std::string collective;            // "all_reduce", or with "_perf"
  std::string cluster;               // of the catalog, or a file
  std::vector<std::string> figures;  // of the cluster, each NAME=VALUE
  uint32_t processes = 1;
  uint32_t threads = 1;
  uint32_t gpus = 1;
  std::string least = "32M";
  std::string most = "32M";
  std::string step = "1M";
  int64_t factor = 1;
  int64_t iterations = 20;
  int64_t aggregated = 1;
  int64_t warmup = 1;
  int64_t checks = 1;
  std::string op = "sum";
  std::string type = "float";
  std::string root = "0";
  std::optional<std::string> output;       // a JSON file
  std::optional<std::string> data_budget;  // of values that are checked
  Backend backend = Backend::Host;         // Cuda: times are measured
  uint64_t seed = 0;
  std::vector<std::string> unread;     // flags that were given and say nothing here: "-z"
  std::vector<std::string> arguments;  // all, with the command's own name first
  Limits limits;
};

struct CalibrateCommand {
  std::vector<std::string> tables;  // files
  std::string base;                 // a cluster of the catalog, or a file with one
  std::string output;
  TableFacts facts;
  std::optional<std::string> date;    // of the figures' sources; empty: the day of the run
  std::optional<std::string> source;  // of the figures; empty: the names of the tables' files
  bool validates = true;              // by leaving out each number of ranks
  int evaluations = 500;              // the most of one fit
  Limits limits;
};

struct CalibrateCudaCommand {
  std::string output;
  uint32_t devices = 8;             // virtual ones
  std::optional<std::string> most;  // bytes of the largest node
  std::optional<std::string> date;  // of the figures' sources; empty: the day of the run
};

/// This command fits a device's efficiency to times of single ops.
struct CalibrateOpsCommand {
  std::vector<std::string> tables;  // files
  std::string base;                 // a cluster of the catalog, or a file with one
  std::string output;
  std::optional<std::string> date;    // of the figures' sources; empty: the day of the run
  std::optional<std::string> source;  // of the figures; empty: the names of the tables' files
  bool validates = true;              // by leaving out shapes
  int evaluations = 2000;             // the most of one fit
  Limits limits;
};

struct ValidateCommand {
  std::vector<std::string> paths;      // files and folders of tables
  std::optional<std::string> cluster;  // of all of them, in place of what they say
  std::optional<std::string> output;   // a file for the mean errors as JSON
  std::optional<std::string> against;  // such a file, from before
  TableFacts facts;
  Limits limits;
};

enum class OpsFormat : uint8_t { Text, Markdown };

struct ShowCommand {
  enum class What : uint8_t {
    Program,
    Schedule,
    CriticalPath,
    Catalog,
    Ops,
    Algorithms,
    Law,
    Schema,
    Topology
  } what = What::Ops;
  std::string file;   // Program, Schedule, CriticalPath; Topology: or a cluster
  std::string op;     // Schedule
  uint32_t node = 0;  // Schedule
  std::string entry;  // Catalog, Law: one of the names, or empty for the list; Schema: its name
  OpsFormat ops_format = OpsFormat::Text;
  Format format = Format::Text;  // Topology
  Limits limits;                 // Program, Schedule, CriticalPath, Topology
};

/// Returns what `orrery show topology` prints.
std::string show_topology(const ShowCommand& command, const Style& style);

/// It answers queries, or shows the sharding of an array of a scenario, or of one that the options
/// describe.
struct ShowShardingCommand {
  std::string file;
  std::string array;
  std::optional<std::string> queries;  // a file
  std::optional<std::string> mesh;     // NAME=SIZE,...
  std::optional<std::string> shape;    // N,...
  std::optional<std::string> spec;     // JSON
  std::optional<std::string> dtype;
  std::optional<std::string> svg;  // a file to write
  Limits limits;
};

/// It answers queries about MPMD meshes and arrays, or shows what a reshard of a scenario takes
/// with other thresholds.
struct ShowMpmdCommand {
  std::optional<std::string> queries;  // a file
  std::string file;                    // a scenario
  std::string reshard;                 // one of its ids
  std::optional<std::string> svg;      // a file to write
  Limits limits;
};

struct QueryAnswer;

/// Writes an answer per line of the file.
Outcome answer_queries(const std::string& file, const Limits& limits,
                       QueryAnswer (*answer)(std::string_view line, const Limits& limits),
                       std::ostream& out);

/// This command only prints: --help, completion, the manual, or an error in the arguments.
struct Message {
  Outcome outcome = Outcome::Holds;
  std::string text;
};

using Command =
    std::variant<RunCommand, VerifyCommand, PlanCommand, MergeCommand, DiffCommand, ProveCommand,
                 PerfCommand, CalibrateCommand, CalibrateCudaCommand, CalibrateOpsCommand,
                 ValidateCommand, ShowCommand, ShowShardingCommand, ShowMpmdCommand, Message>;

/// Reads the arguments, without the program's own name.
Command parse_command_line(std::vector<std::string> arguments);

// Each throws InputError for input that it cannot read.
Outcome execute(const RunCommand& command, const Terminal& terminal);
Outcome execute(const VerifyCommand& command, const Terminal& terminal);
Outcome execute(const PlanCommand& command, const Terminal& terminal);
Outcome execute(const MergeCommand& command, const Terminal& terminal);
/// Answers the plan, whose text is given. Points that `store` has are not worked out; it may be
/// null.
Outcome answer_plan(const PlanCommand& command, const std::string& text, PlanStore* store,
                    const Terminal& terminal);
/// Works out the points of PlanCommand::part into a folder (plan_parts.cc).
Outcome work_out_part(const PlanCommand& command, const std::string& text,
                      const Terminal& terminal);
Outcome execute(const DiffCommand& command, const Terminal& terminal);
Outcome execute(const ProveCommand& command, const Terminal& terminal);
Outcome execute(const PerfCommand& command, const Terminal& terminal);
Outcome execute(const CalibrateCommand& command, const Terminal& terminal);
Outcome execute(const CalibrateCudaCommand& command, const Terminal& terminal);
Outcome execute(const CalibrateOpsCommand& command, const Terminal& terminal);
Outcome execute(const ValidateCommand& command, const Terminal& terminal);
Outcome execute(const ShowCommand& command, const Terminal& terminal);
Outcome execute(const ShowShardingCommand& command, const Terminal& terminal);
Outcome execute(const ShowMpmdCommand& command, const Terminal& terminal);
Outcome execute(const Message& command, const Terminal& terminal);

/// Parses and executes, and turns exceptions into a message and an exit code.
Outcome run_command_line(std::vector<std::string> arguments, const Terminal& terminal);

}  // namespace orrery
