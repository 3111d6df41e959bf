#pragma once

// Makes programs, and refuses faulty ones. The scenario reader, generators, importers and tests all
// build programs here, so the rules of a program are stated once.

#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/program/rules.h"

namespace orrery {

/// An op as the user wrote it, before any check.
struct OpRequest {
  std::string name;
  OpKind kind = OpKind::Compute;
  Issue issue = Issue::Sync;
  Attributes attributes;              // as given; what is missing is filled in from the rules
  std::vector<std::string> operands;  // names of values
  std::vector<std::string> donated;   // names among the operands
  std::string site;  // collectives: ops of several threads with one site name meet; else empty
  std::optional<Origin> origin;
};

/// Faults are added to the Diagnostics it is given, each at the op's origin (with the parameter
/// appended to its pointer); a faulty op defines a result of unknown type, and later uses of it are
/// not reported again.
class ProgramBuilder {
 public:
  ProgramBuilder(Mesh mesh, Checks checks, Diagnostics& diagnostics);

  /// A value that exists on every device before the program begins, varying over `varying` axes.
  void argument(std::string name, Dtype dtype, Shape local, std::vector<std::string> varying,
                std::optional<Origin> origin = std::nullopt);

  /// Begins a thread; ops go to the thread begun last.
  void thread(std::string name, std::vector<LogicalId> devices);

  void op(OpRequest request);

  void output(std::string name, std::optional<Origin> origin = std::nullopt);

  /// Checks what can only be checked at the end (sites), and hands the program over. Meaningful
  /// only when the diagnostics stayed empty.
  Program finish();

 private:
  struct Definition {
    std::optional<ValueId> value;  // empty: its op was faulty
    std::optional<size_t> thread;  // empty: an argument
  };
  struct Waiting;  // a site whose threads are still being read

  Mesh mesh_;
  Checks checks_;
  Diagnostics& diagnostics_;
  Program program_;
  std::map<std::string, Definition, std::less<>> defined_;
  std::map<std::string, SiteId, std::less<>> sites_;
};

}  // namespace orrery
