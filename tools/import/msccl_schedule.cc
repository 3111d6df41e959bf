#include "tools/import/msccl_schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "models/base/check.h"
#include "models/base/quantity.h"
#include "simulator/schedule/sliced_schedule.h"
#include "simulator/schedule/walk.h"

namespace orrery {
namespace {

/// Returns, for each buffer, the most chunks that a gpu has.
MscclBuffers largest(const MscclAlgorithm& algorithm) {
  MscclBuffers result;
  for (const MscclBuffers& gpu : algorithm.buffers) {
    result.input = std::max(result.input, gpu.input);
    result.output = std::max(result.output, gpu.output);
    result.scratch = std::max(result.scratch, gpu.scratch);
  }
  return result;
}

/// Returns how much further on the buffer begins in the area, from one gpu to the next.
int64_t step_of(const MscclAlgorithm& algorithm, MscclPlacement placement, Area buffer) {
  const MscclLayout layout = layout_of(algorithm.collective);
  const bool is_part = (buffer == Area::Input && layout.input_is_part) ||
                       (buffer == Area::Output && layout.output_is_part);
  return placement == MscclPlacement::InPlace && is_part ? algorithm.part() : 0;
}

int64_t pieces_of(const Step& step, int64_t most) {
  return std::max<int64_t>(1, ceil_divide(step.count(), most));
}

std::optional<Slice> piece_of(const std::optional<Slice>& slice, int64_t first, int64_t most) {
  if (!slice)
    return std::nullopt;
  return Slice{slice->area, slice->first + first, std::min(most, slice->count - first)};
}

}  // namespace

std::string_view name(MscclPlacement placement) {
  return placement == MscclPlacement::InPlace ? "in place" : "out of place";
}

std::vector<MscclPlacement> placements(const MscclAlgorithm& algorithm) {
  std::vector<MscclPlacement> result;
  if (algorithm.out_of_place)
    result.push_back(MscclPlacement::OutOfPlace);
  if (algorithm.in_place)
    result.push_back(MscclPlacement::InPlace);
  return result;
}

Extent areas_of(const MscclAlgorithm& algorithm, MscclPlacement placement, uint32_t slots) {
  const MscclBuffers most = largest(algorithm);
  Extent areas;
  areas.slots = slots;
  areas.fused = FusedStep::Atomic;
  areas.in_place = placement == MscclPlacement::InPlace;
  areas.input = most.input;
  areas.output = most.output;
  areas.scratch = most.scratch;
  if (areas.in_place) {
    areas.input = algorithm.collective == MscclCollective::Custom
                      ? std::max(most.input, most.output)
                      : algorithm.whole();
    areas.output = 0;
  }
  return areas;
}

Buffers buffers_of(const MscclAlgorithm& algorithm, MscclPlacement placement) {
  const MscclBuffers most = largest(algorithm);
  return {{step_of(algorithm, placement, Area::Input), most.input},
          {step_of(algorithm, placement, Area::Output), most.output}};
}

Slice placed(const MscclAlgorithm& algorithm, MscclPlacement placement, Node gpu,
             const Slice& slice) {
  Slice result = slice;
  result.first += gpu.index() * step_of(algorithm, placement, slice.area);
  if (placement == MscclPlacement::InPlace && slice.area == Area::Output)
    result.area = Area::Input;
  return result;
}

StoredSteps placed_steps(const MscclAlgorithm& algorithm, MscclPlacement placement) {
  StoredSteps steps = algorithm.steps;
  for (uint32_t gpu = 0; gpu < steps.size(); ++gpu)
    for (std::vector<Step>& channel : steps[gpu])
      for (Step& step : channel)
        for (std::optional<Slice>* const slice : {&step.source, &step.target})
          if (*slice)
            *slice = placed(algorithm, placement, Node(gpu), **slice);
  return steps;
}

std::vector<StepRef> last_nops(const MscclAlgorithm& algorithm) {
  std::vector<StepRef> found;
  for (uint32_t gpu = 0; gpu < algorithm.blocks.size(); ++gpu) {
    for (uint32_t b = 0; b < algorithm.blocks[gpu].size(); ++b) {
      const std::vector<MscclStepText>& steps = algorithm.blocks[gpu][b].steps;
      auto first = static_cast<uint32_t>(steps.size());
      while (first > 0 && steps[first - 1].type == "nop")
        --first;
      for (uint32_t s = first; s < steps.size(); ++s)
        found.push_back({Node(gpu), Channel(b), s});
    }
  }
  return found;
}

void drop_waits_of(const std::vector<StepRef>& nops, StoredSteps& steps) {
  for (const StepRef& nop : nops)
    steps[nop.node.index()][nop.channel.index()][nop.index].after.reset();
}

uint64_t count_pieces(const StoredSteps& steps, int64_t most) {
  uint64_t pieces = 0;
  for (const auto& channels : steps)
    for (const std::vector<Step>& channel : channels)
      for (const Step& step : channel)
        pieces += static_cast<uint64_t>(pieces_of(step, most));
  return pieces;
}

CutSteps cut_steps(const StoredSteps& steps, const std::vector<StoredSchedule::Message>& messages,
                   int64_t most) {
  CutSteps result;
  // For each step it has the first piece, and at the end of each channel the number of its pieces.
  std::vector<std::vector<std::vector<uint32_t>>> first;
  for (const auto& channels : steps) {
    first.emplace_back();
    for (const std::vector<Step>& channel : channels) {
      int64_t pieces = 0;
      std::vector<uint32_t>& begins = first.back().emplace_back();
      for (const Step& step : channel) {
        begins.push_back(static_cast<uint32_t>(pieces));
        pieces += pieces_of(step, most);
      }
      begins.push_back(static_cast<uint32_t>(pieces));
    }
  }
  const auto begin = [&](StepRef ref) {
    return first[ref.node.index()][ref.channel.index()][ref.index];
  };
  for (const auto& channels : steps) {
    result.steps.emplace_back();
    result.step_of.emplace_back();
    for (const std::vector<Step>& channel : channels) {
      std::vector<Step>& cut = result.steps.back().emplace_back();
      std::vector<uint32_t>& step_of = result.step_of.back().emplace_back();
      for (uint32_t s = 0; s < channel.size(); ++s) {
        const Step& step = channel[s];
        for (int64_t p = 0; p < pieces_of(step, most); ++p) {
          Step& piece = cut.emplace_back(step);
          piece.source = piece_of(step.source, p * most, most);
          piece.target = piece_of(step.target, p * most, most);
          piece.after.reset();
          if (step.after && p == 0) {
            StepRef last = *step.after;
            last.index = begin({last.node, last.channel, last.index + 1}) - 1;
            piece.after = last;
          }
          step_of.push_back(s);
        }
      }
    }
  }
  for (const auto& [send, receive] : messages) {
    const uint32_t pieces = begin({send.node, send.channel, send.index + 1}) - begin(send);
    for (uint32_t p = 0; p < pieces; ++p)
      result.messages.push_back({{send.node, send.channel, begin(send) + p},
                                 {receive.node, receive.channel, begin(receive) + p}});
  }
  return result;
}

CutSteps cut_steps(const MscclAlgorithm& algorithm, MscclPlacement placement, int64_t most,
                   bool makes_last_waits) {
  StoredSteps steps = placed_steps(algorithm, placement);
  if (!makes_last_waits)
    drop_waits_of(last_nops(algorithm), steps);
  return cut_steps(steps, algorithm.messages, most);
}

uint32_t most_messages(const CutSteps& cut) {
  std::map<std::tuple<Node, Channel, Node, Channel>, uint32_t> count;
  uint32_t most = 1;
  for (const StoredSchedule::Message& message : cut.messages)
    most = std::max(most, ++count[{message.send.node, message.send.channel, message.receive.node,
                                   message.receive.channel}]);
  return most;
}

std::unique_ptr<const Schedule> in_elements(Extent areas, const CutSteps& steps, int64_t chunk,
                                            int64_t stretch) {
  StoredSteps scaled = steps.steps;
  for (auto& channels : scaled)
    for (std::vector<Step>& channel : channels)
      for (Step& step : channel)
        for (std::optional<Slice>* const slice : {&step.source, &step.target}) {
          if (!*slice)
            continue;
          ORRERY_CHECK(stretch >= chunk || (*slice)->count <= 1, "stretches are of one chunk");
          (*slice)->first *= chunk;
          (*slice)->count *= chunk;
        }
  areas.input = checked_multiply(areas.input, chunk);
  areas.output = checked_multiply(areas.output, chunk);
  areas.scratch = checked_multiply(areas.scratch, chunk);
  auto whole = std::make_unique<const StoredSchedule>(areas, scaled, steps.messages);
  if (stretch >= chunk)
    return whole;
  return std::make_unique<const SlicedOver<>>(std::move(whole), stretch);
}

std::unique_ptr<const Schedule> one_iteration(const MscclAlgorithm& algorithm,
                                              MscclPlacement placement, const CutSteps& cut,
                                              uint32_t slots) {
  return in_elements(areas_of(algorithm, placement, slots), cut, 1, 1);
}

std::vector<Parked> stuck(const MscclAlgorithm& algorithm, MscclPlacement placement,
                          const CutSteps& cut, uint32_t slots) {
  NoVisitor visitor;
  return walk(*one_iteration(algorithm, placement, cut, slots), visitor);
}

}  // namespace orrery
