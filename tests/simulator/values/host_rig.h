#pragma once

// These are short ways to write programs over a mesh, lower them, and run them by the host
// executor. The devices are fully connected or under a switch.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/program/builder.h"
#include "simulator/lower/lower.h"
#include "simulator/values/host_executor.h"
#include "tests/models/program/lists.h"

namespace orrery::test {

using Numbers = std::vector<double>;

/// Returns a tensor of the given numbers, each converted to the dtype.
Tensor tensor(Dtype dtype, Shape shape, const Numbers& numbers);
Numbers numbers(const Tensor& tensor);

class HostRig {
 public:
  explicit HostRig(std::vector<Axis> axes);

  /// Adds an argument of one tensor per device, all of one dtype and shape. It varies over the
  /// whole mesh.
  void argument(const std::string& name, std::vector<Tensor> tensors);
  /// Adds an argument of f32 vectors, one per device.
  void argument(const std::string& name, const std::vector<Numbers>& per_device);

  /// Begins a thread over some devices. Without this call, the first op begins a thread over all
  /// devices.
  void thread(const std::string& name, std::vector<LogicalId> devices);

  /// Adds an op, named as in a scenario: "psum_start".
  void op(const std::string& op, const std::string& name, Names operands,
          const std::vector<std::pair<std::string, Attribute>>& attributes = {},
          std::string site = {});
  /// Adds an op with several results, which have these names.
  void op(const std::string& op, const Names& results, Names operands,
          const std::vector<std::pair<std::string, Attribute>>& attributes = {});

  /// Ends the program and lowers it. Fails the test if there is an error.
  void lower();
  /// Lowers the program if that has not been done, and runs it.
  HostRun run();

  /// Returns the value on each device, after `run`.
  std::vector<Numbers> values(const HostRun& run, const std::string& name) const;
  ValueId value(const std::string& name) const;
  /// Returns the digest of every half of every collective's schedule, each counted once.
  WalkDigest digest() const;

  std::optional<ProtocolFigures> transport;  // messages are cut to its slots
  bool in_switch = false;  // the devices are under a switch that reduces, without other links
  Program program;
  Lowered lowered;
  DeviceValues arguments;

 private:
  void add(const std::string& op, const Names& results, Names operands,
           const std::vector<std::pair<std::string, Attribute>>& attributes, std::string site);

  std::vector<Axis> axes_;
  Diagnostics diagnostics_{"rig"};
  ProgramBuilder builder_;
  std::vector<std::vector<Tensor>> tensors_;
  bool in_thread_ = false;
  bool lowered_yet_ = false;
};

}  // namespace orrery::test
