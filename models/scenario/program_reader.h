#pragma once

// Reads a scenario's "program" or "programs" and passes the ops to a ProgramBuilder, which has the
// rules of a program. The parameters of an op are in its rules. The body of a loop is read once for
// each iteration that is written out (loop_reader.cc).

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/mesh/mesh.h"
#include "models/program/builder.h"
#include "models/program/rules.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "models/scenario/long_loops.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// The thread of a "program", and of one of several "programs" that has no name of its own.
inline constexpr std::string_view kOnlyProgram = "main";
std::string default_program_name(size_t number);

/// The only "op" that is not an op of a program: it stands for the ops of its iterations.
inline constexpr std::string_view kLoopOp = "fori_loop";
inline constexpr std::string_view kLoopSummary =
    "the body once for each index from lower to before upper; carry gives what its names are at "
    "first, yield what they are next";
inline constexpr std::string_view kLoopKeys = "lower upper [index] [carry] body [yield]";

class ProgramReader {
 public:
  /// `invalid` names the arrays that could not be read. Ops that use them are only checked by
  /// themselves and left out of the program, and so are ops that use those.
  ProgramReader(const Mesh& mesh, ProgramBuilder& builder, std::set<std::string> invalid,
                const Limits& limits, LongLoops long_loops, const KeptIterations& kept,
                Diagnostics& diagnostics)
      : mesh_(mesh),
        builder_(builder),
        invalid_(std::move(invalid)),
        limits_(limits),
        long_loops_(long_loops),
        kept_(kept),
        diagnostics_(diagnostics) {}

  /// One list of ops for all devices.
  void read_program(DocumentNode list);

  /// Ops after those that the builder has, of one list for all devices.
  void read_more(DocumentNode list);

  /// Several: [{"on": {"stage": 0}, "do": [...]}, ...].
  void read_programs(DocumentNode list);

  /// Whether the builder got every op. If not, and there are several threads, its errors about
  /// sites at the end would be wrong.
  bool complete() const { return complete_; }

  const LeftOutIterations& left_out() const { return left_out_; }

  /// The first error, if any, that the program is larger than the limits.
  const std::optional<Diagnostic>& over_limits() const { return over_limits_; }

  bool is_invalid(const std::string& name) const { return invalid_.find(name) != invalid_.end(); }

 private:
  /// The meaning of ids in a list of ops: in one iteration of a loop's body, or in a whole program.
  struct Scope {
    const Scope* outside = nullptr;
    std::string prefix = {};       // of the ids that ops get: "layers[2]."
    std::string site_suffix = {};  // of the sites at which they meet: "[2]"
    IterationsAround around = {};
    const std::set<std::string>* ids = nullptr;                  // those of the body
    std::map<std::string, std::string, std::less<>> names = {};  // defined so far, in full
  };
  struct LoopText;
  struct LoopCarry;
  struct LoopEntry;

  void read_ops(DocumentNode list, Scope& scope);
  void read_op(DocumentNode node, Scope& scope);
  std::string read_id(DocumentNode node, const Scope& scope);
  std::vector<std::string> read_ids(DocumentNode node, const Scope& scope, OpRequest& request);
  std::vector<std::string> read_ids(DocumentNode node, const Scope& scope);
  void read_loop(DocumentNode node, Scope& scope);
  std::optional<LoopText> read_loop_head(DocumentNode node, const Scope& scope);
  void read_carries(DocumentNode carry, std::optional<DocumentNode> yield,
                    std::vector<LoopCarry>& carries);
  bool enter(LoopText& loop, const Scope& scope);
  bool read_iterations(LoopText& loop, int64_t lower, int64_t upper, const Scope& scope);
  void explain_unlike(const LoopText& loop, const LoopEntry& before, const LoopEntry& entry);
  std::optional<LoopEntry> entry_of(const LoopText& loop, const Loop& made);
  std::optional<std::string> read_reference(DocumentNode node, const Scope& scope);
  bool read_iteration(LoopText& loop, LoopIteration& made, const Scope& outside);
  void refuse_loop(DocumentNode node, Scope& scope);

  void define(Scope& scope, const std::string& name, const std::string& full, const Origin& at);
  std::optional<std::string> resolved(const std::string& name, const Origin& at,
                                      const Scope& scope);
  std::vector<std::string> resolved(const std::vector<std::string>& names, const Origin& at,
                                    const Scope& scope);
  bool fits(DocumentNode node, size_t ops, size_t threads, bool in_loop = false);

  const Mesh& mesh_;
  ProgramBuilder& builder_;
  std::set<std::string> invalid_;
  const Limits& limits_;
  const LongLoops long_loops_;
  const KeptIterations& kept_;
  Diagnostics& diagnostics_;
  bool complete_ = true;
  LeftOutIterations left_out_;
  std::optional<Diagnostic> over_limits_;
  int64_t ops_ = 0;         // so far
  int64_t device_ops_ = 0;  // ops and threads times their devices, so far
  int64_t devices_ = 0;     // of the program that is being read
};

}  // namespace orrery
