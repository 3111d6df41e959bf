#include "tools/nccl_tests/collective.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "models/base/check.h"

namespace orrery {
namespace {

/// Says which buffers of a rank have one part per rank. The others are one part.
enum class Parts : uint8_t { None, Send, Receive, Both };

struct ProgramFacts {
  NcclCollective collective;
  std::string_view name;
  RedopColumn redop;
  bool root;
  Parts parts;  // which buffers have a part for each rank
};

constexpr std::array<ProgramFacts, 11> kPrograms = {{
    {NcclCollective::AllGather, "all_gather", RedopColumn::None, false, Parts::Receive},
    {NcclCollective::AllReduce, "all_reduce", RedopColumn::Operation, false, Parts::None},
    {NcclCollective::Alltoall, "alltoall", RedopColumn::None, false, Parts::Both},
    {NcclCollective::Alltoallv, "alltoallv", RedopColumn::None, false, Parts::Both},
    {NcclCollective::Broadcast, "broadcast", RedopColumn::None, true, Parts::None},
    {NcclCollective::Gather, "gather", RedopColumn::None, true, Parts::Receive},
    {NcclCollective::Hypercube, "hypercube", RedopColumn::Blank, false, Parts::Receive},
    {NcclCollective::Reduce, "reduce", RedopColumn::Operation, true, Parts::None},
    {NcclCollective::ReduceScatter, "reduce_scatter", RedopColumn::Operation, false, Parts::Send},
    {NcclCollective::Scatter, "scatter", RedopColumn::None, true, Parts::Send},
    {NcclCollective::SendRecv, "sendrecv", RedopColumn::Operation, false, Parts::None},
}};

const ProgramFacts& facts(NcclCollective collective) {
  const ProgramFacts& found = kPrograms[static_cast<size_t>(collective)];
  ORRERY_CHECK(found.collective == collective, "the table is in the order of the enumeration");
  return found;
}

/// Returns over / under, rounded half up. The result is empty if it exceeds 64 bits or under is 0.
/// Requires both >= 0.
std::optional<BytesPerSecond> rounded_rate(Int128 over, Int128 under) {
  if (under == 0)
    return std::nullopt;
  const Int128 rate = (2 * over + under) / (2 * under);
  if (rate > std::numeric_limits<int64_t>::max())
    return std::nullopt;
  return BytesPerSecond(static_cast<int64_t>(rate));
}

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

std::span<const NcclCollective> nccl_collectives() {
  static const auto kAll = [] {
    std::array<NcclCollective, kPrograms.size()> all{};
    std::transform(kPrograms.begin(), kPrograms.end(), all.begin(),
                   [](const ProgramFacts& program) { return program.collective; });
    return all;
  }();
  return kAll;
}

std::string_view name(NcclCollective collective) {
  return facts(collective).name;
}

std::string program_name(NcclCollective collective) {
  return std::string(name(collective)) + "_perf";
}

std::optional<NcclCollective> nccl_collective_named(std::string_view text) {
  if (const size_t slash = text.find_last_of("/\\"); slash != std::string_view::npos)
    text.remove_prefix(slash + 1);
  const size_t perf = text.find("_perf");
  const size_t after = perf + 5;
  if (perf != std::string_view::npos && after < text.size() && text[after] != '_' &&
      text[after] != '.')
    return std::nullopt;
  text = text.substr(0, perf);
  for (const ProgramFacts& program : kPrograms)
    if (program.name == text)
      return program.collective;
  return std::nullopt;
}

std::optional<NcclCollective> nccl_collective_of_file(std::string_view file) {
  std::string rest;
  for (const char c : file.substr(file.find_last_of("/\\") + 1))
    if (c != '_' && c != '-')
      rest += ('A' <= c && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  std::vector<std::pair<std::string, NcclCollective>> names;
  for (const ProgramFacts& program : kPrograms) {
    std::string name(program.name);
    std::erase(name, '_');
    names.emplace_back(std::move(name), program.collective);
  }
  // "reducescatter" also has "reduce" and "scatter", so long names are taken out first.
  std::sort(names.begin(), names.end(),
            [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  std::optional<NcclCollective> found;
  for (const auto& [name, collective] : names)
    for (size_t at = 0; (at = rest.find(name)) != std::string::npos;) {
      if (found && *found != collective)
        return std::nullopt;
      found = collective;
      rest.replace(at, name.size(), " ");
    }
  return found;
}

RedopColumn redop_column(NcclCollective collective) {
  return facts(collective).redop;
}

bool may_print(NcclCollective collective, RedopColumn redop) {
  const RedopColumn now = redop_column(collective);
  if (redop == RedopColumn::Absent)
    return collective == NcclCollective::SendRecv ||
           (now != RedopColumn::Operation && collective != NcclCollective::Alltoall &&
            collective != NcclCollective::Alltoallv);
  return now == redop ||
         (collective == NcclCollective::Alltoall && redop == RedopColumn::Blank);  // before 2.19
}

bool has_root(NcclCollective collective) {
  return facts(collective).root;
}

bool is_checked_in_place(NcclCollective collective) {
  return collective != NcclCollective::Alltoall && collective != NcclCollective::Alltoallv &&
         collective != NcclCollective::SendRecv;
}

bool has_parts(NcclCollective collective) {
  return facts(collective).parts != Parts::None;
}

NcclCounts nccl_counts(NcclCollective collective, int64_t count, Bytes element, uint32_t ranks) {
  ORRERY_CHECK(count >= 0 && element.count() > 0 && 16 % element.count() == 0 && ranks > 0,
               "a size of whole elements, and a rank");
  const Parts parts = facts(collective).parts;
  if (parts == Parts::None)
    return {count, count, count};
  const int64_t aligned = 16 / element.count();
  const int64_t part = count / ranks / aligned * aligned;
  const int64_t whole = part * ranks;
  return {parts == Parts::Receive ? part : whole, parts == Parts::Send ? part : whole, part};
}

Bytes nccl_row_size(const NcclCounts& counts, Bytes element) {
  return element * std::max(counts.send, counts.receive);
}

NcclShare bus_share(NcclCollective collective, uint32_t ranks) {
  const auto n = static_cast<int64_t>(ranks);
  if (collective == NcclCollective::AllReduce)
    return {2 * (n - 1), n};
  if (has_parts(collective) && collective != NcclCollective::Hypercube)
    return {n - 1, n};
  return {};
}

NcclShare counted_share(NcclCollective collective, uint32_t ranks) {
  const auto n = static_cast<int64_t>(ranks);
  return collective == NcclCollective::Hypercube ? NcclShare{n - 1, n} : NcclShare{};
}

NcclBandwidths nccl_bandwidths(NcclCollective collective, Bytes size, uint32_t ranks,
                               Duration time) {
  const NcclShare counted = counted_share(collective, ranks);
  const NcclShare bus = bus_share(collective, ranks);
  // Sizes are below 2^63 B, a second has 2^40 ps, and shares are at most 2^21, so 127 bits suffice.
  const Int128 over = Int128{size.count()} * kPicosecondsPerSecond * counted.over;
  const Int128 under = Int128{time.count()} * counted.under;
  return {rounded_rate(over, under), rounded_rate(over * bus.over, under * bus.under)};
}

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
