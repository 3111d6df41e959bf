#include "tools/import/judged_sizes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "models/base/amount_text.h"

namespace orrery {
namespace {

/// Returns the bytes by which runtimes compute how many chunks a message has. They are those of a
/// slot, except for Simple in a reduce or a broadcast: there REDUCE_CHUNKSTEPS and
/// BROADCAST_CHUNKSTEPS are one step of the buffer, and a slot has four.
std::optional<Bytes> counted_slot(const MscclAlgorithm& algorithm, const Runtime& runtime) {
  const std::optional<Bytes> slot = runtime.figures(algorithm.protocol).slot;
  const bool one_step = algorithm.protocol == Protocol::Simple &&
                        (algorithm.collective == MscclCollective::Reduce ||
                         algorithm.collective == MscclCollective::Broadcast);
  return slot && one_step ? std::optional(Bytes(slot->count() / 4)) : slot;
}

int64_t most_count_of(const MscclAlgorithm& algorithm) {
  int64_t most = 1;
  for (const auto& gpu : algorithm.steps)
    for (const std::vector<Step>& channel : gpu)
      for (const Step& step : channel)
        most = std::max(most, step.count());
  return most;
}

/// Returns a size without rounding: "6 MiB", "6291457 B".
std::string exact_text(Bytes size) {
  constexpr std::array<std::string_view, 4> kUnits = {"B", "KiB", "MiB", "GiB"};
  int64_t count = size.count();
  size_t unit = 0;
  for (; unit + 1 < kUnits.size() && count > 0 && count % 1024 == 0; ++unit)
    count /= 1024;
  return fmt::format("{} {}", count, kUnits[unit]);
}

/// Returns a range of sizes: "from 64 B to 4 KiB", "from 64 B on", "up to 4 KiB". It is "" for all
/// sizes.
std::string range_text(Bytes least, std::optional<Bytes> most) {
  if (!most)
    return least.count() == 0 ? "" : fmt::format("from {} on", exact_text(least));
  // The end is the shorter of "to 134217727 B" and "to below 128 MiB".
  const std::string last = exact_text(*most);
  const bool largest = most->count() == std::numeric_limits<int64_t>::max();
  const std::string end = exact_text(largest ? *most : *most + Bytes(1));
  const std::string until = end.size() < last.size() ? "below " + end : last;
  return least.count() == 0 ? "up to " + until
                            : fmt::format("from {} to {}", exact_text(least), until);
}

}  // namespace

int64_t chunks_of_message(const MscclAlgorithm& algorithm, const Runtime& runtime, Bytes chunk) {
  const std::optional<Bytes> slot = counted_slot(algorithm, runtime);
  if (!slot)
    return std::numeric_limits<int64_t>::max();
  return std::clamp<int64_t>(slot->count() / chunk.count(), 1, runtime.limits->count);
}

std::optional<Bytes> largest_chunk(const MscclAlgorithm& algorithm, const Runtime& runtime,
                                   int64_t chunks) {
  const std::optional<Bytes> slot = counted_slot(algorithm, runtime);
  return slot ? std::optional(Bytes(slot->count() / chunks)) : std::nullopt;
}

MscclCut msccl_cut(const MscclAlgorithm& algorithm, const Runtime& runtime, int64_t chunk,
                   Bytes item) {
  const std::optional<Bytes> slot = runtime.figures(algorithm.protocol).slot;
  const int64_t fit = slot ? slot->count() / item.count() : chunk;  // in elements
  return {chunks_of_message(algorithm, runtime, item * chunk), std::min(fit, chunk)};
}

JudgedSizes::JudgedSizes(const MscclAlgorithm& algorithm, const Runtime& runtime,
                         std::optional<Bytes> asked)
    : algorithm_(algorithm),
      runtime_(runtime),
      asked_(asked),
      chunk_(chunk_elements()),
      most_count_(most_count_of(algorithm)) {
  // Elements may be of one byte, so the chunks of a size may be of any number of bytes.
  const auto chunks = [&](Bytes chunk) {
    return std::min(most_count_, chunks_of_message(algorithm, runtime, std::max(chunk, Bytes(1))));
  };
  if (asked) {
    fewest_ = most_ = chunks(chunk());
    return;
  }
  most_ = chunks(Bytes(ceil_divide(algorithm.least_size.count(), algorithm.whole())));
  if (algorithm.most_size)
    fewest_ = chunks(Bytes(algorithm.most_size->count() / algorithm.whole()));
  else if (!runtime.figures(algorithm.protocol).slot)
    fewest_ = most_count_;
  fewest_ = std::min(fewest_, most_);
}

int64_t JudgedSizes::chunk_elements() const {
  const Bytes smallest = kItem * algorithm_.whole();
  const auto chunk = [&](Bytes size) {
    return std::max<int64_t>(1, ceil_divide(size.count(), smallest.count()));
  };
  if (asked_)
    return chunk(*asked_);
  const Bytes usual(int64_t{1} << 20);
  const Bytes most = algorithm_.most_size.value_or(usual);
  const int64_t elements = chunk(std::max(algorithm_.least_size, std::min(usual, most)));
  const bool too_large = algorithm_.most_size && smallest * elements > most;
  return too_large && elements > 1 ? elements - 1 : elements;
}

std::string JudgedSizes::text() const {
  if (asked_)
    return "at " + exact_text(size());
  const std::string range = range_text(algorithm_.least_size, algorithm_.most_size);
  return range.empty() ? "at every size" : "at every size " + range;
}

std::string JudgedSizes::text_of_at_most(int64_t chunks) const {
  if (chunks >= most_)
    return text();
  const std::optional<Bytes> largest = largest_chunk(algorithm_, runtime_, chunks + 1);
  return "at sizes above " + exact_text(*largest * algorithm_.whole());
}

std::vector<std::string> JudgedSizes::notes() const {
  std::vector<std::string> notes;
  const Bytes given = asked_.value_or(size());
  const bool small = given < algorithm_.least_size;
  const bool large = algorithm_.most_size && given > *algorithm_.most_size;
  const std::string range = range_text(algorithm_.least_size, algorithm_.most_size);
  const int64_t chunks = algorithm_.whole();
  // The file may be called with elements of one byte.
  if (algorithm_.most_size &&
      Bytes(algorithm_.most_size->count() / chunks * chunks) < algorithm_.least_size)
    notes.push_back(fmt::format("no size {} divides into {}: the runtime never uses the file",
                                range, counted(chunks, "chunk")));
  else if (small || large)
    notes.push_back(fmt::format("{} is {} than the file is for: {}", exact_text(given),
                                small ? "less" : "more", range));
  if (given != size())
    notes.push_back(fmt::format("{} is rounded up to {}: {} of whole f32 elements",
                                exact_text(given), exact_text(size()), counted(chunks, "chunk")));
  const RuntimeSlots& figures = runtime_.figures(algorithm_.protocol);
  if (figures.slot)
    notes.push_back(fmt::format("{} in {}: a slot holds {} of data{} ({})",
                                name(algorithm_.protocol), runtime_.name, size_text(*figures.slot),
                                cut_text(), runtime_.source));
  else
    notes.emplace_back("messages are judged whole, not cut to slots (--runtime none)");
  return notes;
}

/// Returns how messages are cut; "" if they are not.
std::string JudgedSizes::cut_text() const {
  if (!asked_)
    return fewest_ == most_count_
               ? ""
               : fmt::format("; hangs are judged with messages of {}, as at the largest sizes",
                             counted(fewest_, "chunk"));
  const int64_t iterations = ceil_divide(chunk_, cut().elements);
  if (iterations > 1)
    return fmt::format("; a chunk of {} is cut, and all steps run {} times", size_text(chunk()),
                       iterations);
  if (fewest_ < most_count_)
    return fmt::format("; a message has at most {} of {}", counted(fewest_, "chunk"),
                       size_text(chunk()));
  return "";
}

}  // namespace orrery
