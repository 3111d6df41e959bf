#include "tools/import/runtime.h"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

constexpr std::array<std::string_view, 8> kRcclCollectives = {
    "allreduce", "allgather", "alltoall", "reducescatter",
    "broadcast", "reduce",    "gather",   "scatter"};
constexpr std::array<std::string_view, 3> kRcclAttributes = {"minBytes", "maxBytes", "outofplace"};
constexpr std::array<std::string_view, 1> kMscclAttributes = {"name"};
constexpr std::array<std::string_view, 7> kMscclCollectives = {
    "allreduce", "allgather", "alltoall", "reduce_scatter", "broadcast", "reduce", "custom"};

// Offsets are kept in 16 bits and depid in 8, both with a sign. An XML element has at most 1,024
// children (MAX_SUBS).
//
// A connection's buffer has 8 steps; a Simple message takes 4 of them (MSCCL_CHUNKSTEPS), the
// others one. LL sends a flag of 4 B with every 4 B of data. LL128 sends lines whose last 8 B are a
// flag: of 64 B in RCCL, of 128 B in NCCL.
constexpr std::array kRuntimes = {
    Runtime{"rccl",
            "ROCm/rccl 0cbce2a: init.cc, device.h, msccl_struct.h",
            RuntimeLimits{64, 71, 64, 128, 32, 4095, 1024, 32767, 127},
            {kRcclCollectives, kRcclAttributes, false, Calls::Rccl, false, true},
            {{Bytes(int64_t{2} << 20), 2, {1, 1}},
             {Bytes(8 * 256 * 8), 8, {1, 2}},
             {Bytes(28 * 256 * 8 / 8 * 7), 8, {7, 8}}}},
    Runtime{"msccl",
            "microsoft/msccl: devcomm.h, msccl.h",
            RuntimeLimits{256, 71, 216, 32, 32, 4095, 1024, 32767, 127},
            {kMscclCollectives, kMscclAttributes, true, Calls::Msccl, true, false},
            {{Bytes(int64_t{2} << 20), 2, {1, 1}},
             {Bytes(8 * 512 * 8), 8, {1, 2}},
             {Bytes(120 * 640 * 8 / 16 * 15), 8, {15, 16}}}},
    Runtime{"none", "", std::nullopt, {}, {{}, {}, {}}},
};

}  // namespace

std::span<const Runtime> runtimes() {
  return kRuntimes;
}

const Runtime* runtime_named(std::string_view text) {
  const auto* const found = std::find_if(kRuntimes.begin(), kRuntimes.end(),
                                         [&](const Runtime& each) { return each.name == text; });
  return found == kRuntimes.end() ? nullptr : found;
}

}  // namespace orrery
