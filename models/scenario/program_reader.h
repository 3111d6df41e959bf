#pragma once

// Reads a scenario's "program" or "programs" and hands the ops to a ProgramBuilder, which knows the
// rules of a program. Which parameters an op has is in its rules.

#include <set>
#include <string>
#include <string_view>

#include "models/base/diagnostics.h"
#include "models/mesh/mesh.h"
#include "models/program/builder.h"
#include "models/scenario/document.h"

namespace orrery {

/// The thread of a "program", and of one of several "programs" that has no name of its own.
inline constexpr std::string_view kOnlyProgram = "main";
std::string default_program_name(size_t number);

class ProgramReader {
 public:
  /// `faulty` names the arrays that could not be read: ops that use them are checked by themselves
  /// and left out of the program, and so are ops that use those.
  ProgramReader(const Mesh& mesh, ProgramBuilder& builder, std::set<std::string> faulty,
                Diagnostics& faults)
      : mesh_(mesh), builder_(builder), faulty_(std::move(faulty)), faults_(faults) {}

  /// One list of ops for all devices.
  void read_program(DocumentNode list);

  /// Several: [{"on": {"stage": 0}, "do": [...]}, ...].
  void read_programs(DocumentNode list);

  /// Whether the builder was given every op. Where it was not, and there are several threads, what
  /// it says of sites at the end would be wrong.
  bool complete() const { return complete_; }

  bool is_faulty(const std::string& name) const { return faulty_.find(name) != faulty_.end(); }

 private:
  void read_ops(DocumentNode list);
  void read_op(DocumentNode node);
  std::optional<std::vector<LogicalId>> read_devices(DocumentNode node);
  bool fits(DocumentNode node, size_t ops);

  const Mesh& mesh_;
  ProgramBuilder& builder_;
  std::set<std::string> faulty_;
  Diagnostics& faults_;
  bool complete_ = true;
  size_t places_ = 0;  // ops and threads times devices, so far
};

/// Reads a parameter of that kind; empty where a fault was added.
std::optional<Attribute> read_attribute(DocumentNode node, ParameterKind kind, Diagnostics& faults);

}  // namespace orrery
