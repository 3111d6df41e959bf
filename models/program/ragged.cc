#include "models/program/ragged.h"

#include <algorithm>
#include <numeric>

#include "models/array/kernels.h"

namespace orrery {

SliceTables slice_tables(std::span<const Tensor* const> operands) {
  SliceTables tables;
  std::vector<int64_t>* const to[] = {&tables.input_offsets, &tables.send_sizes,
                                      &tables.output_offsets, &tables.recv_sizes};
  for (size_t t = 0; t < operands.size(); ++t)
    for (int64_t i = 0; i < operands[t]->elements(); ++i)
      to[t]->push_back(element_as_index(*operands[t], i));
  return tables;
}

int64_t RaggedGroup::most_sent() const {
  int64_t most = 0;
  for (const SliceTables& rank : ranks)
    most =
        std::max(most, std::accumulate(rank.send_sizes.begin(), rank.send_sizes.end(), int64_t{0}));
  return most;
}

RaggedGroup AssumedSizes::group() const {
  RaggedGroup group = without_slices(of_);
  const size_t slices = group.slices_for_each();
  std::vector<int64_t> filled(of_.ranks, 0);  // rows so far in each rank's result
  for (size_t from = 0; from < of_.ranks; ++from) {
    SliceTables& sender = group.ranks[from];
    int64_t used = 0;  // rows so far of the operand
    for (size_t entry = 0; entry < of_.entries; ++entry) {
      const size_t to = entry / slices;
      const int64_t rows = sent(from, entry);
      sender.input_offsets[entry] = used;
      sender.send_sizes[entry] = rows;
      sender.output_offsets[entry] = filled[to];
      group.ranks[to].recv_sizes[group.entry(from, entry % slices)] = rows;
      used += rows;
      filled[to] += rows;
    }
  }
  return group;
}

std::vector<std::vector<int64_t>> received_sizes(const std::vector<std::vector<int64_t>>& sizes,
                                                 RaggedExtent of) {
  if (sizes.size() == 1 && sizes.front().size() == 1)
    return sizes;
  const AssumedSizes sent(sizes, of);
  const size_t slices = of.entries / of.ranks;
  std::vector<std::vector<int64_t>> received(of.ranks);
  for (size_t to = 0; to < of.ranks; ++to)
    for (size_t entry = 0; entry < of.entries; ++entry)
      received[to].push_back(sent.sent(entry / slices, to * slices + entry % slices));
  return received;
}

RaggedGroup without_slices(RaggedExtent of) {
  const std::vector<int64_t> zeros(of.entries, 0);
  return {of.operand_rows, of.output_rows,
          std::vector<SliceTables>(of.ranks, {zeros, zeros, zeros, zeros})};
}

}  // namespace orrery
