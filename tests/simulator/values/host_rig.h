#pragma once

// Short ways to write programs over a mesh, fully connected or under a switch, lowered and run by
// the host executor.

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

/// A tensor of the given numbers, each converted to the dtype.
Tensor tensor(Dtype dtype, Shape shape, const Numbers& numbers);
Numbers numbers(const Tensor& tensor);

class HostRig {
 public:
  explicit HostRig(std::vector<Axis> axes);

  /// One tensor per device, all of one dtype and shape; varies over the whole mesh.
  void argument(const std::string& name, std::vector<Tensor> tensors);
  /// f32 vectors.
  void argument(const std::string& name, const std::vector<Numbers>& per_device);

  /// Begins a thread over some devices. Without one, the first op begins a thread over all.
  void thread(const std::string& name, std::vector<LogicalId> devices);

  /// `op` as a scenario names it: "psum_start".
  void op(const std::string& op, const std::string& name, Names operands,
          const std::vector<std::pair<std::string, Attribute>>& attributes = {},
          std::string site = {});
  /// With several results: their names.
  void op(const std::string& op, const Names& results, Names operands,
          const std::vector<std::pair<std::string, Attribute>>& attributes = {});

  /// Ends the program and lowers it. Fails the test where that finds an error.
  void lower();
  /// Lowers if that has not been done, and runs.
  HostRun run();

  /// The value on each device, after `run`.
  std::vector<Numbers> values(const HostRun& run, const std::string& name) const;
  ValueId value(const std::string& name) const;
  /// The digest of every half of every collective's schedule, once each.
  WalkDigest digest() const;

  std::optional<ProtocolFigures> transport;  // to whose slots messages are cut
  bool in_switch = false;  // a switch between the devices that reduces, instead of links
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
