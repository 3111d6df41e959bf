#pragma once

// The programs of nccl-tests: how each turns a size into elements per rank, what its algbw and
// busbw count, and the names of its element types and operations. Source: NVIDIA/nccl-tests at
// a0b82b2 (2.19.6), src/<name>.cu and src/common.cu (test_typenames, test_opnames).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/array/dtype.h"
#include "models/base/quantity.h"

namespace orrery {

enum class NcclCollective : uint8_t {
  AllGather,
  AllReduce,
  Alltoall,
  Alltoallv,
  Broadcast,
  Gather,
  Hypercube,
  Reduce,
  ReduceScatter,
  Scatter,
  SendRecv,
};

/// In the order of the enumeration.
std::span<const NcclCollective> nccl_collectives();

/// "all_reduce".
std::string_view name(NcclCollective collective);

/// "all_reduce_perf", the program's name.
std::string program_name(NcclCollective collective);

/// By its name, or by its program's: also with a path before it, and with the suffix that a build
/// may have ("build/all_reduce_perf_mpi"). Empty where it is none of them.
std::optional<NcclCollective> nccl_collective_named(std::string_view text);

/// What a program says in its column redop: its operation, "none", or nothing. Before 2.13 some
/// have no such column.
enum class RedopColumn : uint8_t { Operation, None, Blank, Absent };
/// At 2.19.6.
RedopColumn redop_column(NcclCollective collective);
/// In any version.
bool may_print(NcclCollective collective, RedopColumn redop);

/// Whether it has a root; the column is -1 otherwise, and before 2.13 absent.
bool has_root(NcclCollective collective);

/// Elements of one rank for a size of `count` elements: each program's GetCollByteCount. Where
/// ranks have parts, a part is rounded down to 16 bytes. (alltoallv sends parts of several sizes;
/// here it is as alltoall.) Requires count >= 0, an element of 1, 2, 4 or 8 bytes, ranks > 0.
struct NcclCounts {
  int64_t send = 0;
  int64_t receive = 0;
  int64_t parameter = 0;  // the column count: what the call of NCCL is given
};
NcclCounts nccl_counts(NcclCollective collective, int64_t count, Bytes element, uint32_t ranks);

/// The column size: what a rank sends or receives, the larger of the two.
Bytes nccl_row_size(const NcclCounts& counts, Bytes element);

/// Whether the column size is the number of ranks times that of count (it is the same otherwise).
bool has_parts(NcclCollective collective);

/// An exact ratio. busbw is algbw times `over` / `under`.
struct NcclShare {
  int64_t over = 1;
  int64_t under = 1;
};
/// all_reduce 2(n-1)/n; those with parts (n-1)/n, but hypercube; others 1.
NcclShare bus_share(NcclCollective collective, uint32_t ranks);
/// Of the column size, what algbw counts: all of it, but (n-1)/n for hypercube.
NcclShare counted_share(NcclCollective collective, uint32_t ranks);

/// In bytes per second, rounded half up. Empty where no time was taken, or 64 bits do not hold
/// them.
struct NcclBandwidths {
  std::optional<BytesPerSecond> algbw;
  std::optional<BytesPerSecond> busbw;
};
NcclBandwidths nccl_bandwidths(NcclCollective collective, Bytes size, uint32_t ranks,
                               Duration time);

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
