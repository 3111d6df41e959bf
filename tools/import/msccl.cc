#include "tools/import/msccl.h"

#include <algorithm>
#include <array>

#include "models/base/characters.h"

namespace orrery {
namespace {

// The types of steps, as in MSCCL's interpreter (src/collectives/device/msccl_interpreter.h in
// microsoft/msccl).
constexpr std::array<StepType, 9> kStepTypes = {{
    // name     receives reads  writes sends  combines
    {"s", false, true, false, true, false},
    {"r", true, false, true, false, false},
    {"rcs", true, false, true, true, false},
    {"rrs", true, true, false, true, true},
    {"rrc", true, true, true, false, true},
    {"rrcs", true, true, true, true, true},
    {"cpy", false, true, true, false, false},
    {"re", false, true, true, false, true},
    {"nop", false, false, false, false, false},
}};

struct CollectiveName {
  std::string_view name;
  MscclLayout layout;
};

/// The collectives, in the order of MscclCollective.
constexpr std::array kCollectives = {
    //             name              input is part, output is part, rooted, counts a part
    CollectiveName{"allreduce", {}},
    CollectiveName{"allgather", {true, false, false, false}},
    CollectiveName{"alltoall", {}},
    CollectiveName{"reduce_scatter", {false, true, false, false}},
    CollectiveName{"broadcast", {false, false, true, false}},
    CollectiveName{"reduce", {false, false, true, false}},
    CollectiveName{"gather", {true, false, true, true}},
    CollectiveName{"scatter", {false, true, true, true}},
    CollectiveName{"custom", {}},
};

/// This is RCCL's spelling of "reduce_scatter".
constexpr std::string_view kReduceScatterToo = "reducescatter";

}  // namespace

const StepType* step_type_named(std::string_view text) {
  const auto* const found = std::find_if(kStepTypes.begin(), kStepTypes.end(),
                                         [&](const StepType& each) { return each.name == text; });
  return found == kStepTypes.end() ? nullptr : found;
}

std::optional<MscclCollective> collective_named(std::string_view text) {
  if (text == kReduceScatterToo)
    return MscclCollective::ReduceScatter;
  for (size_t c = 0; c < kCollectives.size(); ++c)
    if (kCollectives[c].name == text)
      return static_cast<MscclCollective>(c);
  return std::nullopt;
}

std::string_view name(MscclCollective collective) {
  return kCollectives[static_cast<size_t>(collective)].name;
}

MscclLayout layout_of(MscclCollective collective) {
  return kCollectives[static_cast<size_t>(collective)].layout;
}

}  // namespace orrery
