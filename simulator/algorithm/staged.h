#pragma once

// A StagedSchedule runs other schedules one after another along the axes of a group. The ranks form
// a grid: nodes x ranks of a node, or the dimensions of a torus. In a stage, each line of the grid
// along one axis runs a schedule of its own, so the lines of a stage work at the same time.
//
//  - reduce-scatter: a reduce-scatter along the first axis, then along the second, and so on
//  - all-gather: along the last axis, then along the one before it, and so on
//  - all-reduce: reduce-scatters, an all-reduce along the last axis, then the all-gathers
//  - all-to-all, of two axes: an exchange along the first, then along the second
//
// The data is divided over lanes. Each lane has its own order of the axes and its own direction, so
// that lanes use different links. In a lane, the data is divided into units. A stage sees a unit as
// one element, and each of its messages has one unit. It runs once for each combination of the
// units of the other axes that its line holds; one such run is a round. The rounds are in the order
// in which the next stage reads their results, or in which the stage before makes them. Each step
// that reads the result of the stage before waits for the step that stores it. So the stages
// overlap: while one stage works on a unit, the one before works on the next. The rounds of a stage
// follow one another in its channels. So a ring of a stage takes a latency for each of its messages
// in each round, and as many latencies as a ring of all ranks. Messages may have two pieces. Then a
// rank sends one while the other is on its way, and a ring takes a latency only if a piece takes
// less. (Lanes over the same links do not help: links are shared evenly, so the messages of all
// lanes arrive at once.) NCCL passes the slices of a chunk in this way.
//
// In an all-reduce, the units of all later axes lie side by side. So a message may have all of them
// instead, a whole part. Then a stage has one round, and begins when the one before it ends. Its
// rings take as many latencies as a line has ranks. This is for lanes that keep all links busy in
// each stage.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/array/combine.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// Says how a collective, or a stage of it, moves the data of its ranks.
enum class StageForm : uint8_t { AllReduce, ReduceScatter, AllGather, AllToAll };

/// A LineRequest asks for the schedule of a line. Its ranks are numbered along the axis.
struct LineRequest {
  StageForm form = StageForm::AllReduce;
  uint32_t nodes = 1;
  int64_t count = 0;  // elements of the larger area of a rank
  Combine combine = Combine::None;
  Transport transport;  // of one channel
};

/// A LineAlgorithm makes the schedules of lines.
struct LineAlgorithm {
  /// Returns a schedule in which each message has count / units elements, for any multiple `count`
  /// of the units. Where a node stores an element of its output several times, the last one is in
  /// its highest channel. A switch node k holds elements of unit k only.
  std::unique_ptr<const Schedule> (*make)(const LineRequest& request);
  /// Returns into how many units an all-reduce divides its data. Other forms have one for each
  /// rank.
  uint32_t (*units)(uint32_t nodes);
  /// Whether a node sends a message when the one before has arrived, so that the links idle for a
  /// latency each time.
  bool waits = false;
};

/// A Lane takes its share of the data along the axes in this order.
struct StagedLane {
  std::vector<uint32_t> axes;
  bool goes_back = false;  // the ranks of each line are numbered from its end
};

struct StagedForm {
  StageForm form = StageForm::AllReduce;
  /// The sizes of the axes. Ranks are numbered row-major: the last axis is the fastest.
  std::vector<uint32_t> sizes;
  std::vector<LineAlgorithm> algorithms;  // one for each axis
  std::vector<StagedLane> lanes;
  /// Whether messages have whole parts. Only for an AllReduce, and for lines with one channel.
  bool whole_parts = false;
  /// Each message is sent in so many pieces, and each step of a line is as many steps. The pieces
  /// divide the slots evenly. With whole parts there is one, as stages would cut these differently.
  uint32_t pieces = 1;
  int64_t count = 0;  // elements of the larger area of a rank; without AllReduce, ranks divide it
  Combine combine = Combine::None;
  Transport transport;  // its slots and entry
};

class StagedSchedule final : public Schedule {
 public:
  static constexpr size_t kMostAxes = 8;

  /// Requires 1 to kMostAxes axes, each of at least two ranks, and each once in a lane; two for an
  /// AllToAll.
  explicit StagedSchedule(StagedForm form);
  ~StagedSchedule() override;

  const Extent& extent() const override { return extent_; }
  uint32_t steps(Node node, Channel channel) const override;
  Step step(StepRef ref) const override;
  StepRef peer(StepRef ref, Half half) const override;
  std::optional<StepRef> takes_slot_of(StepRef ref) const override;
  void for_each_receiver(Node node, Channel channel,
                         FunctionRef<void(const Sent&)> visit) const override;
  int64_t largest_message() const override { return Split(widest_, form_.pieces).largest(); }

 private:
  /// One number for each axis, in the order of the lane: the coordinates of a rank, or the unit of
  /// each axis.
  using Digits = std::array<uint32_t, kMostAxes>;
  struct Line;
  struct Stage;
  struct At;
  /// Where the data of a stage begins or ends. `Own` areas hold the units of one rank only.
  enum class Where : uint8_t { Input, Output, OwnInput, OwnOutput, Scratch };

  void add_lane(uint32_t lane);
  void add_stage(uint32_t lane, uint32_t position, StageForm form);
  void connect_stages(uint32_t lane);
  void number_switches();
  const Line& line_of(uint32_t axis, StageForm form, uint32_t units, uint32_t rounds);

  uint32_t position_units(uint32_t lane, uint32_t position) const;
  int64_t units_from(uint32_t lane, uint32_t position) const;
  At place_of(Node node, Channel channel) const;
  At place_of(StepRef ref) const;
  Digits coordinates(uint32_t rank, uint32_t lane) const;
  Node rank_on_line(const At& at, Node sub) const;
  StepRef outside(const At& at, StepRef sub) const;
  void find_units(const Stage& stage, const Digits& coordinates, uint32_t round,
                  Digits& units) const;
  uint32_t round_of(const Stage& stage, const Digits& coordinates, const Digits& units) const;
  StepRef made_by(const At& at, const Digits& units) const;
  Slice slice(const Stage& stage, Where where, const Digits& units) const;
  std::optional<Slice> slice(const At& at, const Slice& sub, Digits& units) const;
  void take_piece(uint32_t piece, std::optional<Slice>& slice) const;

  StagedForm form_;
  uint32_t ranks_ = 1;
  std::vector<uint32_t> strides_;  // per axis
  Split shares_;                   // of the data, or of a rank's part, per lane
  int64_t part_ = 0;               // elements of a rank's part; without AllReduce
  int64_t widest_ = 0;             // elements of the largest unit, or of the largest whole part
  bool equal_messages_ = true;
  bool lanes_alike_ = true;  // all have one order of the axes
  std::vector<std::unique_ptr<const Line>> lines_;
  std::vector<Stage> stages_;
  std::vector<std::vector<uint32_t>> stages_of_lane_;
  std::vector<uint32_t> stage_of_channel_;
  Extent extent_;
};

}  // namespace orrery
