#include "tools/import/message_pieces.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "models/base/check.h"
#include "models/base/quantity.h"
#include "simulator/schedule/sliced_schedule.h"

namespace orrery {
namespace {

int64_t pieces_of(const Step& step, int64_t most) {
  return std::max<int64_t>(1, ceil_divide(step.count(), most));
}

std::optional<Slice> piece_of(const std::optional<Slice>& slice, int64_t first, int64_t most) {
  if (!slice)
    return std::nullopt;
  return Slice{slice->area, slice->first + first, std::min(most, slice->count - first)};
}

}  // namespace

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
  // Per step: its first piece. One more at the end of each channel.
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

}  // namespace orrery
