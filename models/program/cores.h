#pragma once

// This says what an mpmd_map does on operands of given types. Its functions run as instances, one
// per index over their meshes. Each instance runs its body in order. Instances are unordered but
// for semaphores, and communicate by the elements of storages alone.
//
// walk_cores() runs the instances, with times or without. CoreState has the rule of semaphores: a
// wait goes on once the signals before it, less what other waits took, reach its amount. A
// CoreRunner and a StoppedWalk say what can be reached at all.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/base/callable.h"
#include "models/program/core_map.h"
#include "models/program/rules.h"

namespace orrery {

/// A CoreStorage is the memory of a ref. An output that is the alias of an input has its storage.
struct CoreStorage {
  enum class Role : uint8_t { Input, Output, Scratch };
  Role role = Role::Scratch;
  std::string ref;
  Dtype dtype = Dtype::F32;
  Shape shape;
  CoreSpace space = CoreSpace::Hbm;
  std::optional<uint32_t> instance = {};  // whose own it is; empty: the device's

  Bytes size() const { return itemsize(dtype) * shape.elements(); }
};

/// A CoreAccess is all of a storage, or one row of it.
struct CoreAccess {
  uint32_t storage = 0;
  std::optional<int64_t> row = {};
};

/// A CoreStep is a body op of an instance.
struct CoreStep {
  const CoreOp* op = nullptr;
  std::vector<CoreAccess> reads = {};
  std::optional<CoreAccess> writes = {};
  uint32_t counter = 0;  // of Signal and Wait
};

struct CoreInstance {
  uint32_t function = 0;
  std::vector<int64_t> index;  // over the axes of its function's mesh
  std::vector<CoreStep> steps;
};

/// A CorePlace is a body op of an instance.
struct CorePlace {
  uint32_t instance = 0;
  uint32_t position = 0;
  friend bool operator==(const CorePlace&, const CorePlace&) = default;
};

struct Cores {
  SharedCoreMap map;
  std::vector<CoreStorage> storages;
  std::vector<uint32_t> inputs;       // the storage of each operand
  std::vector<uint32_t> outputs;      // and of each result
  std::vector<std::string> counters;  // "ready", "sems[1]"
  std::vector<CoreInstance> instances;

  const CoreMesh& mesh(const CoreInstance& instance) const {
    return map->functions[instance.function].mesh;
  }
  const CoreStep& step(CorePlace place) const {
    return instances[place.instance].steps[place.position];
  }
  /// Returns the type of the elements that are accessed. It has no axes.
  ValueType type(const CoreAccess& access) const;
  /// Returns the elements of the storage that are accessed: [begin, end), row-major.
  std::pair<int64_t, int64_t> elements(const CoreAccess& access) const;
  /// Returns "v (c=0, s=1)".
  std::string text(const CoreInstance& instance) const;
  /// Returns where the scenario has the step: "functions/1/body/0".
  std::string path(CorePlace place) const;
  /// Returns "copy at functions/1/body/0 of v (c=0, s=1)".
  std::string text(CorePlace place) const;
  /// Returns the work of a step, with its bytes in all spaces. A signal or a wait has none.
  Cost cost(const CoreStep& step) const;
  /// Returns how many bytes of each space a step reads and writes.
  std::map<CoreSpace, Bytes> touched(const CoreStep& step) const;
  /// Returns the value of an axis_index or an axis_size.
  int64_t axis_value(CorePlace place) const;
  /// Returns the product of the sizes of axes of the meshes.
  int64_t axes_size(std::span<const std::string> names) const;
};

/// With Off, the types of body ops are not checked: they were before.
enum class CoreChecks : uint8_t { Off, On };

/// Returns the instances and storages, or what is wrong with the map on these operands. The error's
/// parameter is the path of the key below the op: "functions/0/body/3/to".
std::variant<Cores, TypeError> cores_of(const SharedCoreMap& map,
                                        std::span<const ValueType> operands, CoreChecks checks);

/// Returns the instances and storages of an mpmd_map of a program.
Cores cores_of(const Program& program, const Op& op);

/// A CoreState says how far each instance has come, and what is in each counter.
struct CoreState {
  std::vector<uint32_t> reached;  // per instance: how many of its steps ended
  std::vector<int64_t> counts;    // per counter

  explicit CoreState(const Cores& cores)
      : reached(cores.instances.size(), 0), counts(cores.counters.size(), 0) {}

  /// Returns whether the instance has a next step, which may run: a wait, if its counter has
  /// enough.
  bool can_go(const Cores& cores, uint32_t instance) const;
  /// Runs the next step of an instance that can go.
  void go(const Cores& cores, uint32_t instance);
  /// Returns whether every instance came to its end.
  bool is_at_end(const Cores& cores) const;
};

/// A CoreRunner runs instances as far as they come, whatever the order.
class CoreRunner {
 public:
  explicit CoreRunner(const Cores& cores);

  const Cores& cores() const { return cores_; }
  /// Returns the instances that wait for the counter, ascending. If there are several, timing
  /// decides who gets a signal.
  std::span<const uint32_t> waiters(uint32_t counter) const { return waiters_[counter]; }
  std::vector<uint32_t> all_instances() const;

  /// Runs the `open` instances, and those that their signals let go on, while `may_go(instance)`. A
  /// signal on a counter with several waiters lets none go on.
  void run(CoreState& state, std::vector<uint32_t> open, FunctionRef<bool(uint32_t)> may_go) const;

 private:
  const Cores& cores_;
  std::vector<std::vector<uint32_t>> waiters_;  // per counter
};

/// A StoppedWalk says how far all instances come while one of them stops before one of its steps.
/// Requires counters with one waiter each, so that the order in which they go makes no difference.
class StoppedWalk {
 public:
  StoppedWalk(const CoreRunner& runner, uint32_t stopped);

  /// Returns how many steps of an instance are reached.
  uint32_t reached(uint32_t instance, uint32_t stopped_before) const;

 private:
  struct Reached {
    uint32_t stopped_before = 0;
    uint32_t steps = 0;
  };

  std::vector<std::vector<Reached>> reached_;  // per instance, ascending
};

/// A CoreRun is a step that ended. A wait begins when its instance comes to it.
struct CoreRun {
  CorePlace place;
  Instant begin;
  Instant end;
  std::optional<size_t> met_by = {};  // of a wait that had to wait: the run of the last signal
};

struct CoreWalk {
  std::vector<CoreRun> runs;      // in an order that semaphores allow
  std::vector<uint32_t> reached;  // per instance: how many of its steps ended
};

/// Runs the instances until none can go on. Each step takes the time that `takes` gives; without
/// it, none. If several instances wait on one counter, the one that came first goes first, and
/// among equals that of the lowest number.
CoreWalk walk_cores(
    const Cores& cores, FunctionRef<Duration(const CoreInstance&, const CoreStep&)> takes =
                            [](const CoreInstance&, const CoreStep&) { return Duration(); });

}  // namespace orrery
