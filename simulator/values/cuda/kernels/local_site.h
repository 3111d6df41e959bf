#pragma once

// A LocalSite is a local op on one device, with its types and addresses. Each function here makes
// the kernel calls of one family of ops.

#include <vector>

#include "models/program/program.h"
#include "simulator/values/cuda/kernels/calls.h"

namespace orrery::cuda {

struct LocalSite {
  const Program& program;
  const Op& op;
  LogicalId device;
  const LocalOperands& where;

  const ValueType& operand(size_t i) const { return program.value(op.operands[i]).type; }
  const ValueType& result(size_t i = 0) const { return program.value(op.results[i]).type; }
  DevicePointer operand_at(size_t i) const { return where.operands[i]; }
  DevicePointer result_at(size_t i = 0) const { return where.results[i]; }
};

using KernelCalls = std::vector<KernelCall>;

// In elementwise_calls.cc:
KernelCalls elementwise_calls(const LocalSite& site);
KernelCalls select_calls(const LocalSite& site);
KernelCalls convert_calls(const LocalSite& site);
KernelCalls part_of_complex_calls(const LocalSite& site, size_t part);  // real 0, imag 1
KernelCalls conj_calls(const LocalSite& site);
KernelCalls complex_calls(const LocalSite& site);

// In movement_calls.cc:
KernelCalls copies_of_operands(const LocalSite& site);
KernelCalls transpose_calls(const LocalSite& site);
KernelCalls slice_calls(const LocalSite& site);
KernelCalls concatenate_calls(const LocalSite& site);
KernelCalls split_calls(const LocalSite& site);
KernelCalls pad_calls(const LocalSite& site);
KernelCalls broadcast_calls(const LocalSite& site);
KernelCalls reorder_calls(const LocalSite& site);
KernelCalls dynamic_slice_calls(const LocalSite& site);
KernelCalls dynamic_update_slice_calls(const LocalSite& site);
KernelCalls take_calls(const LocalSite& site);
KernelCalls scatter_add_calls(const LocalSite& site);

// In fold_calls.cc:
KernelCalls reduce_calls(const LocalSite& site, Combine combine);
KernelCalls dot_calls(const LocalSite& site);

// In local_calls.cc:
KernelCalls scalar_calls(const LocalSite& site, int64_t value);  // s32
KernelCalls full_calls(const LocalSite& site);
KernelCalls iota_calls(const LocalSite& site);
KernelCalls stand_in_calls(const LocalSite& site);
KernelCalls held_or_zeros_calls(const LocalSite& site);

}  // namespace orrery::cuda
