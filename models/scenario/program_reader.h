#pragma once

// This reads a scenario's "program" or "programs" and passes the ops to a ProgramBuilder, which has
// the rules of a program. The parameters of an op are in its rules. The body of a loop is read once
// (loop_reader.cc).

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
#include "models/program/unroll.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// This names the thread of a "program"; default_program_name() names one of several "programs"
/// that has no name of its own.
inline constexpr std::string_view kOnlyProgram = "main";
std::string default_program_name(size_t number);

/// This is the only "op" that is not an op of a program: it stands for the ops of its iterations.
inline constexpr std::string_view kLoopOp = "fori_loop";
inline constexpr std::string_view kLoopSummary =
    "the body once for each index from lower to before upper; carry gives what its names are at "
    "first, yield what they are next";
inline constexpr std::string_view kLoopKeys = "lower upper [index] [carry] body [yield]";

/// This "op" stands for the starts and dones of its psends and precvs (ProgramBuilder::group).
inline constexpr std::string_view kGroupOp = "group";
inline constexpr std::string_view kGroupSummary =
    "psends and precvs that are issued together, as by ncclGroupStart or batch_isend_irecv; it "
    "ends "
    "when all have ended";
inline constexpr std::string_view kGroupKeys = "do";
/// No op of a group may have this key: each message has a stream of its own.
inline constexpr std::string_view kStreamKey = "stream";

/// These "ops" stand for the ops of a reshard (ProgramBuilder::reshard).
inline constexpr std::string_view kToGroupsOp = "spmd_to_mpmd_reshard";
inline constexpr std::string_view kToGroupsSummary =
    "moves arrays from the whole mesh to groups of it along an axis, in transfer groups below a "
    "threshold; the sources are donated";
inline constexpr std::string_view kToGroupsKeys =
    "mpmd_axis shardings [from] [threshold] [threshold_counts] [site]";
inline constexpr std::string_view kToMeshOp = "mpmd_to_spmd_reshard";
inline constexpr std::string_view kToMeshSummary =
    "moves arrays from groups to the whole mesh, in transfer groups below a threshold; all copies "
    "are donated";
inline constexpr std::string_view kToMeshKeys = "mpmd_axis specs [threshold] [site]";

/// A KnownSharding says where a value lies and how it is cut.
struct KnownSharding {
  PartitionSpec spec = {};
  std::optional<std::vector<LogicalId>> on = {};  // as in Array
  bool copies_differ = false;
  std::optional<std::string> axis = {};  // of the groups that have it, if a reshard put it there
  std::set<int64_t> groups = {};
};
using KnownShardings = std::map<std::string, KnownSharding, std::less<>>;

class ProgramReader {
 public:
  /// `invalid` names the arrays that could not be read. An op that uses one of them, or the result
  /// of such an op, is only checked by itself and left out of the program. `shardings` are those of
  /// arrays with a spec.
  ProgramReader(const Mesh& mesh, ProgramBuilder& builder, std::set<std::string> invalid,
                KnownShardings shardings, const Limits& limits, Diagnostics& diagnostics)
      : mesh_(mesh),
        builder_(builder),
        invalid_(std::move(invalid)),
        shardings_(std::move(shardings)),
        limits_(limits),
        diagnostics_(diagnostics) {}

  /// Reads one list of ops for all devices.
  void read_program(DocumentNode list);

  /// Reads more ops of one list for all devices, which follow those that the builder has.
  void read_more(DocumentNode list);

  /// Reads several programs: [{"on": {"stage": 0}, "do": [...]}, ...].
  void read_programs(DocumentNode list);

  /// Returns whether the builder got every op. If not, and there are several threads, the errors
  /// about sites that the builder adds at the end would be wrong.
  bool complete() const { return complete_; }

  bool is_invalid(const std::string& name) const { return invalid_.find(name) != invalid_.end(); }

 private:
  /// It says what ids mean in a list of ops: in a loop's body, or in a whole program.
  struct Scope {
    const Scope* outside = nullptr;
    std::string prefix = {};                     // of the ids that ops get: "layers[]."
    std::string site_suffix = {};                // of the sites at which they meet: "[]"
    const std::set<std::string>* ids = nullptr;  // those of the body
    std::map<std::string, std::string, std::less<>> names = {};  // defined so far, in full
  };
  struct LoopText;
  struct LoopCarry;

  void read_ops(DocumentNode list, Scope& scope);
  /// Reads an op, and adds it to the builder, or to `parts` if that is given.
  void read_op(DocumentNode node, Scope& scope, std::vector<OpRequest>* parts = nullptr);
  void read_group(DocumentNode node, Scope& scope);
  void read_reshard(DocumentNode node, Scope& scope);
  std::vector<KnownSharding> read_given_shardings(DocumentNode node, size_t arrays);
  bool know_stacked(const OpRequest& request);
  void read_group_shardings(DocumentNode node, Reshard& reshard);
  void find_shardings(const OpRequest& keys, Reshard& reshard,
                      const std::vector<KnownSharding>& stated);
  std::string read_id(DocumentNode node, const Scope& scope);
  std::vector<std::string> read_ids(DocumentNode node, const Scope& scope, OpRequest& request);
  std::vector<std::string> read_ids(DocumentNode node, const Scope& scope);
  void read_loop(DocumentNode node, Scope& scope);
  std::optional<LoopText> read_loop_head(DocumentNode node, const Scope& scope);
  void read_carries(DocumentNode carry, std::optional<DocumentNode> yield,
                    std::vector<LoopCarry>& carries);
  bool enter(LoopText& loop, const Scope& scope);
  bool read_body(const LoopText& loop, const Scope& outside, std::vector<ValueId>& yielded);
  std::optional<std::string> read_reference(DocumentNode node, const Scope& scope);
  void refuse_loop(DocumentNode node, Scope& scope);

  void define(Scope& scope, const std::string& name, const std::string& full, const Origin& at);
  std::optional<std::string> resolved(const std::string& name, const Origin& at,
                                      const Scope& scope);
  std::vector<std::string> resolved(const std::vector<std::string>& names, const Origin& at,
                                    const Scope& scope);
  bool fits(DocumentNode node, size_t ops, size_t threads);

  const Mesh& mesh_;
  ProgramBuilder& builder_;
  std::set<std::string> invalid_;
  KnownShardings shardings_;
  const Limits& limits_;
  Diagnostics& diagnostics_;
  bool complete_ = true;
  WrittenSize size_;     // so far, with each body once
  int64_t devices_ = 0;  // of the program that is being read
};

/// Notes the place of each key and item below `node`, by its path.
void note_keys(DocumentNode node, const std::string& path,
               std::map<std::string, Origin, std::less<>>& origins);

/// Returns the error of a program of this size, on all these devices, or "".
std::string size_error(const Limits& limits, const Mesh& mesh, const WrittenSize& size);

}  // namespace orrery
