#pragma once

// Reads collective algorithms in MSCCL's XML (Azure/msccl-scheduler) into a schedule. A thread
// block becomes a channel; a step stays a step.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/bounds.h"
#include "simulator/schedule/stored_schedule.h"

namespace orrery {

/// The collective that the algorithm claims to compute.
enum class MscclCollective : uint8_t { AllReduce, AllGather, AllToAll, ReduceScatter };

std::string_view name(MscclCollective collective);  // as in the file: "allreduce", ...

/// An algorithm as in its file, in chunks: slices of `steps` count chunks, not elements.
struct MscclAlgorithm {
  std::string file;  // as the user named it, for messages
  std::string name;
  std::string protocol;
  MscclCollective collective = MscclCollective::AllReduce;
  uint32_t gpus = 0;
  /// Chunks of the whole buffer: of the input of an all-reduce, of all inputs of an all-gather.
  int64_t chunks = 0;
  /// The whole buffer is one area. An all-gather's input is the gpu's own part of it, and so is a
  /// reduce-scatter's output.
  bool in_place = false;
  int64_t scratch = 0;  // chunks; the maximum that any gpu declares
  StoredSteps steps;    // per gpu and thread block
  std::vector<StoredSchedule::Message> messages;
  /// Per gpu: the file's ids of its thread blocks, by channel.
  std::vector<std::vector<int64_t>> thread_blocks;

  /// Chunks of one gpu's own part: its input of an all-gather, its output of a reduce-scatter.
  int64_t part() const { return chunks / gpus; }
};

/// Reads `text`, and joins its messages as join_messages() does. Throws InputError with every error
/// found: more than Limits::file or Limits::values, text that is not XML, unknown names, offsets
/// outside a buffer, dependencies on steps that do not exist, and messages with one end only.
MscclAlgorithm read_msccl(std::string_view text, std::string file, const Limits& limits = {});

/// The schedule with chunks of `chunk` elements. Throws Overflow where an area exceeds 64 bits.
std::unique_ptr<StoredSchedule> stored_schedule(const MscclAlgorithm& algorithm, int64_t chunk,
                                                uint32_t slots);

}  // namespace orrery
