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

/// Returns all programs, in the order of the enumeration.
std::span<const NcclCollective> nccl_collectives();

/// Returns the name in our texts and files: "all_reduce".
std::string_view name(NcclCollective collective);

/// Returns the name of the program: "all_reduce_perf".
std::string program_name(NcclCollective collective);

/// Returns the collective of a name or of a program's name, which may have a path before it and the
/// suffix of a build after it ("build/all_reduce_perf_mpi"). The result is empty if there is none.
std::optional<NcclCollective> nccl_collective_named(std::string_view text);

/// Returns the collective whose name, also without underscores, is part of a file's name:
/// "nccl-allgather-8.log". The result is empty if there is none, or if there are several.
std::optional<NcclCollective> nccl_collective_of_file(std::string_view file);

/// This is the text in the column redop: the operation, "none", or nothing. Before 2.13 some
/// programs have no such column.
enum class RedopColumn : uint8_t { Operation, None, Blank, Absent };
/// Returns the column of version 2.19.6.
RedopColumn redop_column(NcclCollective collective);
/// Returns whether some version prints it.
bool may_print(NcclCollective collective, RedopColumn redop);

/// Returns whether it has a root. If not, the column root is -1; versions before 2.13 have no such
/// column.
bool has_root(NcclCollective collective);

/// The elements of one rank for a size of `count` elements, as each program's GetCollByteCount
/// gives them. If ranks have parts, a part is rounded down to 16 bytes. (alltoallv sends parts of
/// several sizes; here it is as alltoall.) nccl_counts() requires count >= 0, an element of 1, 2, 4
/// or 8 bytes, and ranks > 0.
struct NcclCounts {
  int64_t send = 0;
  int64_t receive = 0;
  int64_t parameter = 0;  // the column count, which is what NCCL is called with
};
NcclCounts nccl_counts(NcclCollective collective, int64_t count, Bytes element, uint32_t ranks);

/// Returns the column size: the larger of what a rank sends and what it receives.
Bytes nccl_row_size(const NcclCounts& counts, Bytes element);

/// Returns whether results in place are compared with what is expected. Those of the others have
/// N/A in the column #wrong.
bool is_checked_in_place(NcclCollective collective);

/// Returns whether the column size counts the elements of all ranks and the column count those of
/// one. If not, both count the same.
bool has_parts(NcclCollective collective);

/// This is an exact ratio. busbw is algbw times `over` / `under`.
struct NcclShare {
  int64_t over = 1;
  int64_t under = 1;
};
/// Returns 2(n-1)/n for all_reduce, (n-1)/n for those with parts except hypercube, and else 1.
NcclShare bus_share(NcclCollective collective, uint32_t ranks);
/// Returns the share of the column size that algbw counts: (n-1)/n for hypercube, and else all of
/// it.
NcclShare counted_share(NcclCollective collective, uint32_t ranks);

/// The bandwidths are rounded half up. One is empty if no time was taken or if it exceeds 64 bits.
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
/// Returns all types, in the order in which -d all runs them.
std::span<const NcclType> nccl_types();

/// Returns the type of a name, also of one that versions before 2.0 use ("char", "int"). The result
/// is empty if there is none.
std::optional<Dtype> nccl_type_named(std::string_view name);

enum class NcclRedop : uint8_t { Sum, Prod, Max, Min, Avg, MulSum };

struct NcclRedopName {
  std::string_view name;  // "sum"
  NcclRedop redop;
};
/// Returns all operations, in the order in which -o all runs them.
std::span<const NcclRedopName> nccl_redops();

std::optional<NcclRedop> nccl_redop_named(std::string_view name);

}  // namespace orrery
