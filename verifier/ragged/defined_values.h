#pragma once

// Values of a program by the definitions of its ops, without a schedule: for what must be known
// before there is one.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/compiler.h"
#include "models/program/program.h"
#include "models/program/ragged.h"
#include "models/scenario/scenario.h"

namespace orrery {

/// The ops on which values depend; of ops that meet at a site all. In an order in which each comes
/// after what it reads, and ops that meet come together; those that wait for themselves are left
/// out.
std::vector<OpId> ops_behind(const Program& program, std::span<const ValueId> values);

/// Bytes of what the ops read and give, on all devices that have it.
Int128 bytes_of(const Program& program, std::span<const OpId> ops);

class DefinedValues {
 public:
  /// Both must outlive this object; tables may be added meanwhile.
  DefinedValues(const Scenario& scenario, const RaggedTables& tables, uint64_t seed);

  /// Works out the results of a local op or a done; of a collective, those of all ops of its site.
  /// Requires its operands, and of an exchange by tables the site's.
  void run(OpId op);

  bool has(ValueId value) const { return known_.count(value) != 0 || arguments_.count(value) != 0; }
  /// The value of a future is that of the collective. Requires a value that is an argument or was
  /// worked out, on a device that has it.
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
  std::map<ValueId, size_t> arguments_;
  std::map<ValueId, OnDevices> known_;
};

}  // namespace orrery
