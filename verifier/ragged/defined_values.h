#pragma once

// Computes values of a program by the definitions of its ops, without a schedule. They serve what
// must be known before there is a schedule.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/compiler.h"
#include "models/program/holders.h"
#include "models/program/program.h"
#include "models/program/ragged.h"
#include "models/scenario/scenario.h"

namespace orrery {

/// Returns the ops on which values depend. If one op of a site is among them, all ops of the site
/// are. Each op comes after those that make its operands, and ops that meet at a site come
/// together. Ops that wait for themselves are left out.
std::vector<OpId> ops_behind(const Program& program, std::span<const ValueId> values);

/// Returns the bytes of all values that the ops read and give, on all devices that have them.
Int128 bytes_of(const Program& program, std::span<const OpId> ops);

class DefinedValues {
 public:
  /// Both must outlive this object; tables may be added meanwhile.
  DefinedValues(const Scenario& scenario, const RaggedTables& tables, uint64_t seed);

  /// Works out the results of a local op or a done, or those of all ops of a collective's site.
  /// Requires their operands, and the tables of a site that exchanges by them.
  void run(OpId op);

  bool has(ValueId value) const { return known_.count(value) != 0 || arguments_.count(value) != 0; }
  /// Returns the value on a device. The value of a future is that of the collective. Requires a
  /// value that is an argument or was worked out, on a device that has it.
  const Tensor& at(ValueId value, LogicalId device);

 private:
  using OnDevices = std::vector<std::optional<Tensor>>;  // by logical id

  OnDevices& known(ValueId value);
  void run_local(OpId op);
  void run_site(SiteId id);

  const Scenario& scenario_;
  const Program& program_;
  const RaggedTables& tables_;
  const uint64_t seed_;
  const std::vector<ThreadId> thread_of_;  // per op
  const Holders holders_;
  std::map<ValueId, size_t> arguments_;
  std::map<ValueId, OnDevices> known_;
};

}  // namespace orrery
