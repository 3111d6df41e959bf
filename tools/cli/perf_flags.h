#pragma once

// The flags of nccl-tests' programs, as data (NVIDIA/nccl-tests at a0b82b2, 2.19.6, src/common.cu).

#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "tools/cli/commands.h"

namespace orrery {

/// The target of a flag that says nothing about a simulation. The flag's value is not read.
struct Unread {};

struct PerfFlag {
  const char* names;  // "-t,--nthreads"
  const char* takes;  // "N"
  const char* about;
  std::variant<Unread, uint32_t PerfCommand::*, int64_t PerfCommand::*, std::string PerfCommand::*>
      target;
  int64_t least = 0;  // the least that a number may be
};

/// Returns all flags, in the order of nccl-tests' help.
std::span<const PerfFlag> perf_flags();

/// A flag's number may be at most this.
inline constexpr int64_t kMostPerfNumber = int64_t{1} << 20;

}  // namespace orrery
