#pragma once

// Interprets a schedule's steps on int64 areas, without time. Tests compare schedules with it; the
// product does not use it.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/array/combine.h"
#include "models/base/hash.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/walk.h"

namespace orrery::test {

using Elements = std::vector<int64_t>;

struct Moved {
  std::vector<Elements> outputs;  // per node
  std::vector<Parked> parked;
  std::vector<uint32_t> sent;                                 // messages sent, per node
  std::map<std::pair<uint32_t, uint32_t>, int64_t> elements;  // elements sent, per (from, to)
  std::string error;  // a slice outside its area, or a message of another size
};

/// Output elements that no step writes keep this value, unless the schedule asks for zeros.
inline constexpr int64_t kUnwritten = -1'000'000'007;

class Interpreter {
 public:
  Interpreter(const Schedule& schedule, std::vector<Elements> inputs)
      : schedule_(schedule), extent_(schedule.extent()), inputs_(std::move(inputs)) {
    const int64_t initial = extent_.zero_output ? 0 : kUnwritten;
    moved_.outputs.assign(extent_.nodes, Elements(static_cast<size_t>(extent_.output), initial));
    moved_.sent.assign(extent_.nodes, 0);
    for (uint32_t n = 0; n < extent_.nodes; ++n)
      scratch_.emplace_back(static_cast<size_t>(extent_.size(Node(n), Area::Scratch)), kUnwritten);
  }

  Moved run() {
    moved_.parked = walk(schedule_, *this);
    return std::move(moved_);
  }

  void receive(StepRef ref, const Step& step) {
    Elements payload;
    if (step.from) {
      payload = std::move(messages_[ref]);
      if (static_cast<int64_t>(payload.size()) != step.count())
        moved_.error = "a message of another size";
    } else if (step.combine != Combine::None) {
      payload = read(ref.node, *step.target);
    } else if (step.source) {
      payload = read(ref.node, *step.source);
    }
    if (step.combine != Combine::None) {
      const Elements own = read(ref.node, *step.source);
      for (size_t i = 0; i < payload.size(); ++i)
        payload[i] =
            step.combine == Combine::Max ? std::max(payload[i], own[i]) : payload[i] + own[i];
    }
    if (step.target)
      write(ref.node, *step.target, payload);
    payloads_[ref] = std::move(payload);
  }

  void send(StepRef ref, const Step& step) {
    Elements payload = std::move(payloads_[ref]);
    payloads_.erase(ref);
    if (!step.to)
      return;
    ++moved_.sent[ref.node.index()];
    moved_.elements[{ref.node.index(), step.to->index()}] += step.count();
    messages_[schedule_.peer(ref, Half::Send)] = std::move(payload);
  }

 private:
  Elements& area(Node node, const Slice& slice) {
    std::vector<Elements>& areas = slice.area == Area::Input    ? inputs_
                                   : slice.area == Area::Output ? moved_.outputs
                                                                : scratch_;
    Elements& area = areas[node.index()];
    const auto size = static_cast<int64_t>(area.size());
    if (slice.first < 0 || slice.count < 0 || slice.first + slice.count > size)
      moved_.error = "a slice outside its area";
    return area;
  }
  Elements read(Node node, const Slice& slice) {
    const auto begin = area(node, slice).begin() + slice.first;
    return {begin, begin + slice.count};
  }
  void write(Node node, const Slice& slice, const Elements& payload) {
    std::copy(payload.begin(), payload.end(), area(node, slice).begin() + slice.first);
  }

  const Schedule& schedule_;
  Extent extent_;
  std::vector<Elements> inputs_;
  std::vector<Elements> scratch_;
  std::map<StepRef, Elements> payloads_;
  std::map<StepRef, Elements> messages_;  // by the step that receives
  Moved moved_;
};

inline Moved move_data(const Schedule& schedule, std::vector<Elements> inputs) {
  return Interpreter(schedule, std::move(inputs)).run();
}

/// Returns elements below 2^40 that differ for each rank and index, so that a sum shows its terms.
inline std::vector<Elements> inputs(uint32_t nodes, int64_t count) {
  std::vector<Elements> result(nodes);
  for (uint32_t r = 0; r < nodes; ++r)
    for (int64_t j = 0; j < count; ++j)
      result[r].push_back(
          static_cast<int64_t>(mix((uint64_t{r} << 32U) + static_cast<uint64_t>(j)) >> 24U));
  return result;
}

inline Elements sum(const std::vector<Elements>& inputs) {
  Elements result(inputs.front().size(), 0);
  for (const Elements& input : inputs)
    for (size_t j = 0; j < input.size(); ++j)
      result[j] += input[j];
  return result;
}

}  // namespace orrery::test
