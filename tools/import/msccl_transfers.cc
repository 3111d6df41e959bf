#include "tools/import/msccl_transfers.h"

namespace orrery {
namespace {

constexpr size_t kMostFused = 16;  // MSCCL_MAX_REDUCE_FUSION

/// Whether two re steps are into the same place, from the same buffer.
bool same_place(const ParsedStep& a, const ParsedStep& b) {
  return a.source && a.target && b.source && b.target && a.target->area == b.target->area &&
         a.target->first == b.target->first && a.source->area == b.source->area;
}

/// The interpreter counts steps, each re of a chain, and nops that wait where the step that takes
/// their waits is.
void number(std::vector<Transfer>& transfers, const std::vector<ParsedStep>& steps) {
  uint32_t count = 0;
  for (Transfer& transfer : transfers) {
    for (const uint32_t nop : transfer.nops)
      count += steps[nop].waits ? 1 : 0;
    count += static_cast<uint32_t>(transfer.steps.size());
    transfer.flag = count - 1;
  }
}

}  // namespace

std::vector<uint32_t> Transfers::order() const {
  std::vector<uint32_t> order;
  for (const Transfer& transfer : transfers) {
    order.insert(order.end(), transfer.nops.begin(), transfer.nops.end());
    order.insert(order.end(), transfer.steps.begin(), transfer.steps.end());
  }
  order.insert(order.end(), last_nops.begin(), last_nops.end());
  return order;
}

Transfers transfers_of(const std::vector<ParsedStep>& steps) {
  Transfers result;
  std::vector<uint32_t> nops;  // that the next transfer takes over
  bool chain_is_open = false;
  size_t reductions = 0;  // of the thread block
  for (uint32_t s = 0; s < steps.size(); ++s) {
    const ParsedStep& step = steps[s];
    if (step.is_nop()) {
      nops.push_back(s);
      continue;
    }
    const bool continues = step.type == "re" && chain_is_open && !step.waits &&
                           same_place(steps[result.transfers.back().steps.front()], step);
    if (!continues) {
      result.transfers.emplace_back().nops = std::move(nops);
      nops.clear();
    }
    Transfer& transfer = result.transfers.back();
    transfer.steps.push_back(s);
    transfer.sets_flag = step.sets_flag;
    if (step.type == "re")
      ++reductions;
    chain_is_open = step.type == "re" && !step.sets_flag && reductions != kMostFused;
  }
  result.last_nops = std::move(nops);
  number(result.transfers, steps);
  return result;
}

}  // namespace orrery
