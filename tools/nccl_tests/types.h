#pragma once

// The element types and the operations of nccl-tests, by the names in its tables. Source:
// NVIDIA/nccl-tests at a0b82b2 (2.19.6), src/common.cu (test_typenames, test_opnames).

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/array/dtype.h"

namespace orrery {

struct NcclType {
  std::string_view name;  // "float"
  Dtype dtype;
};
/// In nccl-tests' order, in which -d all runs them.
std::span<const NcclType> nccl_types();

/// Also by the names of versions before 2.0: "char", "int". Empty where it is none.
std::optional<Dtype> nccl_type_named(std::string_view name);

enum class NcclRedop : uint8_t { Sum, Prod, Max, Min, Avg, MulSum };

struct NcclRedopName {
  std::string_view name;  // "sum"
  NcclRedop redop;
};
/// In nccl-tests' order, in which -o all runs them.
std::span<const NcclRedopName> nccl_redops();

std::optional<NcclRedop> nccl_redop_named(std::string_view name);

}  // namespace orrery
