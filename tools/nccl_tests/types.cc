#include "tools/nccl_tests/types.h"

#include <array>

namespace orrery {
namespace {

constexpr std::array<NcclType, 12> kTypes = {{
    {"int8", Dtype::S8},
    {"uint8", Dtype::U8},
    {"int32", Dtype::S32},
    {"uint32", Dtype::U32},
    {"int64", Dtype::S64},
    {"uint64", Dtype::U64},
    {"half", Dtype::F16},
    {"float", Dtype::F32},
    {"double", Dtype::F64},
    {"bfloat16", Dtype::BF16},
    {"f8e4m3", Dtype::F8E4M3FN},
    {"f8e5m2", Dtype::F8E5M2},
}};

constexpr std::array<NcclType, 2> kOldTypes = {{{"char", Dtype::S8}, {"int", Dtype::S32}}};

constexpr std::array<NcclRedopName, 6> kRedops = {{
    {"sum", NcclRedop::Sum},
    {"prod", NcclRedop::Prod},
    {"max", NcclRedop::Max},
    {"min", NcclRedop::Min},
    {"avg", NcclRedop::Avg},
    {"mulsum", NcclRedop::MulSum},
}};

}  // namespace

std::span<const NcclType> nccl_types() {
  return kTypes;
}

std::optional<Dtype> nccl_type_named(std::string_view name) {
  for (const NcclType& type : kTypes)
    if (type.name == name)
      return type.dtype;
  for (const NcclType& type : kOldTypes)
    if (type.name == name)
      return type.dtype;
  return std::nullopt;
}

std::span<const NcclRedopName> nccl_redops() {
  return kRedops;
}

std::optional<NcclRedop> nccl_redop_named(std::string_view name) {
  for (const NcclRedopName& each : kRedops)
    if (each.name == name)
      return each.redop;
  return std::nullopt;
}

}  // namespace orrery
