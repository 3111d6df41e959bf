#pragma once

// The host executor computes the values of a program: it moves the data as the devices would.
//
// walk() of program_walk.h goes through the lists of all devices without times, in an order that
// the causes of each action allow. At each event it calls the visitor (host_visitor.h):
//  - a local op is evaluated by its rule, with the kernels of models/array (HostKernels);
//  - a device that enters a collective gets the memory of its node there (member_memory.h), with
//    its operand as the input area;
//  - each half of a step runs its actions: it copies or folds a slice, or moves a message;
//  - a device that leaves a collective takes the output area as the result.
// Every value that is in no loop stays on every device that has it (values.h), so that checks can
// compare it. A value made in a loop stays as long as something may read it (live_values.h). For a
// program that hangs, the result has the values made until then, and where each list stopped. The
// digest of the walk must be that of the timing executors.

#include <cstdint>
#include <span>
#include <vector>

#include "models/array/tensor.h"
#include "models/program/program.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/program_walk.h"
#include "simulator/values/live_values.h"
#include "simulator/values/values.h"

namespace orrery {

struct HostRun {
  /// Every value that is not a future, on every device that has it; for a value in loops, that of
  /// the last iteration. The result of a started collective is the value of its `done`.
  DeviceValues values;
  WalkDigest digest;
  Stop stop;  // if not finished, the program hangs and later values are missing
};

// Some ops stand for several others in one kernel (OpRules::body). Their values are computed by the
// ops of this body, on the host and on GPUs.

/// Returns what the op stands for on its operands. Requires an op with a body.
Program body_of(const Program& program, const Op& op);

/// Bodies makes the body of each op of a program once.
class Bodies {
 public:
  /// The program must outlive the bodies, and its ops must stay where they are.
  explicit Bodies(const Program& program) : program_(program) {}

  /// Requires an op of the program with a body.
  const Program& of(const Op& op);

 private:
  const Program& program_;
  std::map<const Op*, Program> made_;
};

/// Returns the values of a body, given its arguments.
std::vector<std::optional<Tensor>> body_values(const Program& body,
                                               std::span<const Tensor* const> operands,
                                               EvaluateLocal local = evaluate_local);

/// Returns the outputs of a body, given its arguments.
std::vector<Tensor> run_body(const Program& body, std::span<const Tensor* const> operands,
                             EvaluateLocal local = evaluate_local);

/// Runs a program. `arguments` has the program's arguments on every device. `ended` is called for
/// each run of a collective when its last member has ended. `shared` has the orders of other walks
/// of the same schedules, and may be null.
HostRun execute(const Program& program, const Lowered& lowered, DeviceValues arguments,
                VisitEndedRun ended = {}, Orders* shared = nullptr, HostKernels kernels = {});

}  // namespace orrery
