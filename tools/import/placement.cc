#include "tools/import/placement.h"

#include <algorithm>

namespace orrery {
namespace {

/// The most chunks that a gpu has.
MscclBuffers largest(const MscclAlgorithm& algorithm) {
  MscclBuffers result;
  for (const MscclBuffers& gpu : algorithm.buffers) {
    result.input = std::max(result.input, gpu.input);
    result.output = std::max(result.output, gpu.output);
    result.scratch = std::max(result.scratch, gpu.scratch);
  }
  return result;
}

/// How much further on the buffer begins in the area, from one gpu to the next.
int64_t step_of(const MscclAlgorithm& algorithm, Placement placement, Area buffer) {
  const MscclForm form = form_of(algorithm.collective);
  const bool is_part = (buffer == Area::Input && form.input_is_part) ||
                       (buffer == Area::Output && form.output_is_part);
  return placement == Placement::InPlace && is_part ? algorithm.part() : 0;
}

}  // namespace

std::string_view name(Placement placement) {
  return placement == Placement::InPlace ? "in place" : "out of place";
}

std::vector<Placement> placements(const MscclAlgorithm& algorithm) {
  std::vector<Placement> result;
  if (algorithm.out_of_place)
    result.push_back(Placement::OutOfPlace);
  if (algorithm.in_place)
    result.push_back(Placement::InPlace);
  return result;
}

Extent areas_of(const MscclAlgorithm& algorithm, Placement placement, uint32_t slots) {
  const MscclBuffers most = largest(algorithm);
  Extent areas;
  areas.slots = slots;
  areas.fused = FusedStep::Atomic;
  areas.in_place = placement == Placement::InPlace;
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

Buffers buffers_of(const MscclAlgorithm& algorithm, Placement placement) {
  const MscclBuffers most = largest(algorithm);
  return {{step_of(algorithm, placement, Area::Input), most.input},
          {step_of(algorithm, placement, Area::Output), most.output}};
}

Slice placed(const MscclAlgorithm& algorithm, Placement placement, Node gpu, const Slice& slice) {
  Slice result = slice;
  result.first += gpu.index() * step_of(algorithm, placement, slice.area);
  if (placement == Placement::InPlace && slice.area == Area::Output)
    result.area = Area::Input;
  return result;
}

StoredSteps placed_steps(const MscclAlgorithm& algorithm, Placement placement) {
  StoredSteps steps = algorithm.steps;
  for (uint32_t gpu = 0; gpu < steps.size(); ++gpu)
    for (std::vector<Step>& channel : steps[gpu])
      for (Step& step : channel)
        for (std::optional<Slice>* const slice : {&step.source, &step.target})
          if (*slice)
            *slice = placed(algorithm, placement, Node(gpu), **slice);
  return steps;
}

}  // namespace orrery
