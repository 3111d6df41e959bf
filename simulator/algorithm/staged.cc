#include "simulator/algorithm/staged.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "models/base/check.h"
#include "simulator/algorithm/algorithms.h"

namespace orrery {

/// The schedule of a line, and which of its steps read and store its units.
struct StagedSchedule::Line {
  uint32_t axis = 0;
  StageForm form = StageForm::AllReduce;
  uint32_t nodes = 1;
  uint32_t units = 1;
  uint32_t rounds = 1;
  std::unique_ptr<const Schedule> schedule;  // cut, so that each of its iterations is a round

  /// For each node, the units in an order, and the place of each unit in that order.
  struct Order {
    std::vector<uint32_t> units;
    std::vector<uint32_t> places;
  };
  Order reads;
  Order stores;
  /// The step that stores a unit, in the first round: at node * units + unit.
  std::vector<std::pair<Channel, uint32_t>> makers;

  uint32_t length(Node node, Channel channel) const {
    return schedule->steps(node, channel) / rounds;
  }
  /// Returns the unit of a slice, or that of the node itself if the area holds one unit only.
  uint32_t unit(Node node, Area area, int64_t first) const {
    const bool own = (form == StageForm::AllGather && area == Area::Input) ||
                     (form == StageForm::ReduceScatter && area == Area::Output);
    return own ? node.index() : static_cast<uint32_t>(first / rounds);
  }
  void read_steps(const Schedule& whole);
};

namespace {

/// A step of a node that reads or stores a unit.
struct Use {
  uint32_t index;
  uint32_t channel;
  uint32_t unit;
};

}  // namespace

void StagedSchedule::Line::read_steps(const Schedule& whole) {
  const auto order = [&](std::vector<Use>& uses, Order& into) {
    std::stable_sort(uses.begin(), uses.end(),
                     [](const Use& a, const Use& b) { return a.index < b.index; });
    const size_t first = into.units.size();
    std::vector<bool> seen(units);
    const auto add = [&](uint32_t unit) {
      if (seen[unit])
        return;
      seen[unit] = true;
      into.places[first + unit] = static_cast<uint32_t>(into.units.size() - first);
      into.units.push_back(unit);
    };
    into.places.resize(first + units);
    for (const Use& use : uses)
      add(use.unit);
    for (uint32_t unit = 0; unit < units; ++unit)
      add(unit);
  };
  makers.resize(size_t{nodes} * units);
  for (uint32_t n = 0; n < nodes; ++n) {
    std::vector<Use> read;
    std::vector<Use> stored;
    for (uint32_t c = 0; c < whole.extent().channels; ++c)
      for (uint32_t i = 0; i < whole.steps(Node(n), Channel(c)); ++i) {
        const Step step = whole.step({Node(n), Channel(c), i});
        ORRERY_CHECK(step.count() == rounds || step.count() == 0, "a step has one unit");
        if (step.source && step.source->area == Area::Input)
          read.push_back({i, c, unit(Node(n), Area::Input, step.source->first)});
        if (step.target && step.target->area == Area::Output) {
          const uint32_t stores_unit = unit(Node(n), Area::Output, step.target->first);
          stored.push_back({i, c, stores_unit});
          makers[size_t{n} * units + stores_unit] = {Channel(c), i};
        }
      }
    order(read, reads);
    order(stored, stores);
  }
}

/// A stage of a lane.
struct StagedSchedule::Stage {
  const Line* line = nullptr;
  uint32_t lane = 0;
  uint32_t position = 0;  // of its axis in the lane
  uint32_t axis = 0;
  uint32_t first_channel = 0;
  uint32_t first_switch = 0;  // the number of its first switch node
  Where from = Where::Input;
  Where into = Where::Output;
  std::optional<uint32_t> before;  // the stage whose results it reads
  /// The stage that decides in which order the rounds are, and whether by what it reads.
  std::optional<uint32_t> leader;
  bool leader_reads = false;

  const Line::Order& leaders_order(const Stage& leading) const {
    return leader_reads ? leading.line->reads : leading.line->stores;
  }
  bool has(Node sub) const { return sub.index() < line->nodes; }
};

/// Where a channel of a node is: in which line of which stage.
struct StagedSchedule::At {
  const Stage* stage = nullptr;  // null: a switch node has no such channel
  uint32_t base = 0;             // the rank of the line with the least number
  uint32_t number = 0;           // of the line in its stage
  Node sub;                      // the node in the line
  Channel channel;               // of the line
  uint32_t index = 0;            // of a step, in the line
  uint32_t piece = 0;            // that the step is for
  Digits coordinates = {};       // of the rank, or those of the line for a switch node
};

StagedSchedule::StagedSchedule(StagedForm form) : form_(std::move(form)), shares_(0, 1) {
  const size_t axes = form_.sizes.size();
  ORRERY_CHECK(axes > 0 && axes <= kMostAxes && form_.algorithms.size() == axes, "a grid has axes");
  ORRERY_CHECK(form_.form != StageForm::AllToAll || axes == 2, "an exchange has two axes");
  ORRERY_CHECK(!form_.whole_parts || form_.form == StageForm::AllReduce, "parts lie in one piece");
  ORRERY_CHECK(form_.pieces > 0 && form_.transport.slots % form_.pieces == 0,
               "each piece has as many slots");
  ORRERY_CHECK(!form_.whole_parts || form_.pieces == 1, "stages cut whole parts differently");
  strides_.resize(axes);
  for (size_t axis = axes; axis > 0; --axis) {
    ORRERY_CHECK(form_.sizes[axis - 1] > 1, "an axis has two ranks");
    strides_[axis - 1] = ranks_;
    ranks_ *= form_.sizes[axis - 1];
  }
  const bool reduces_all = form_.form == StageForm::AllReduce;
  part_ = form_.count / ranks_;
  lanes_alike_ = std::ranges::all_of(
      form_.lanes, [&](const StagedLane& lane) { return lane.axes == form_.lanes.front().axes; });
  const auto lanes = static_cast<uint32_t>(form_.lanes.size());
  shares_ = Split(reduces_all ? form_.count : part_, lanes);
  for (uint32_t lane = 0; lane < lanes; ++lane)
    add_lane(lane);

  extent_.nodes = ranks_;
  number_switches();
  extent_.channels = static_cast<uint32_t>(stage_of_channel_.size());
  extent_.slots = form_.transport.slots;
  extent_.lookback = 1;
  extent_.entry = form_.transport.entry;
  extent_.fused = FusedStep::StoreAndForward;
  const bool gathers = form_.form == StageForm::AllGather;
  const bool scatters = form_.form == StageForm::ReduceScatter;
  extent_.input = gathers ? part_ : form_.count;
  extent_.output = scatters ? part_ : form_.count;
  if (form_.form == StageForm::AllToAll)
    extent_.scratch = form_.count;
  if (scatters && axes > 1)
    for (const StagedLane& lane : form_.lanes)
      extent_.scratch = std::max(extent_.scratch, form_.count / form_.sizes[lane.axes.front()]);
  extent_.works_in_place = reduces_all;  // a rank's message about a unit is read before its result
  extent_.copies = !reduces_all && !scatters;
  for (const Stage& stage : stages_) {
    const Extent& line = stage.line->schedule->extent();
    extent_.copies |= line.copies && stage.line->form == StageForm::AllReduce;
    extent_.switch_scratch = std::max(extent_.switch_scratch, line.switch_scratch * widest_);
    for (uint32_t n = 0; n < line.nodes; ++n)
      for (uint32_t c = 0; c < line.channels; ++c)
        extent_.window = std::max(extent_.window,
                                  form_.pieces * stage.line->schedule->steps(Node(n), Channel(c)));
  }
}

StagedSchedule::~StagedSchedule() = default;

/// Returns how many units the axis at this place of the lane has.
uint32_t StagedSchedule::position_units(uint32_t lane, uint32_t position) const {
  const uint32_t axis = form_.lanes[lane].axes[position];
  const uint32_t nodes = form_.sizes[axis];
  return form_.form == StageForm::AllReduce && position + 1 == form_.sizes.size()
             ? form_.algorithms[axis].units(nodes)
             : nodes;
}

/// Returns into how many units the axes from this place of the lane on divide what they get.
int64_t StagedSchedule::units_from(uint32_t lane, uint32_t position) const {
  int64_t units = 1;
  for (uint32_t p = position; p < form_.sizes.size(); ++p)
    units *= position_units(lane, p);
  return units;
}

void StagedSchedule::add_lane(uint32_t lane) {
  const auto axes = static_cast<uint32_t>(form_.sizes.size());
  ORRERY_CHECK(form_.lanes[lane].axes.size() == axes, "a lane has each axis");
  stages_of_lane_.emplace_back();
  if (form_.form == StageForm::AllToAll) {
    add_stage(lane, 0, StageForm::AllToAll);
    add_stage(lane, 1, StageForm::AllToAll);
  } else {
    const bool reduces_all = form_.form == StageForm::AllReduce;
    if (form_.form != StageForm::AllGather)
      for (uint32_t p = 0; p < axes - (reduces_all ? 1 : 0); ++p)
        add_stage(lane, p, StageForm::ReduceScatter);
    if (reduces_all)
      add_stage(lane, axes - 1, StageForm::AllReduce);
    if (form_.form != StageForm::ReduceScatter)
      for (uint32_t p = axes - (reduces_all ? 1 : 0); p > 0; --p)
        add_stage(lane, p - 1, StageForm::AllGather);
  }
  connect_stages(lane);
  const int64_t share = shares_.count(lane);
  if (form_.whole_parts) {
    // The largest part is the first of the first axis.
    const int64_t behind = units_from(lane, 1);
    widest_ = std::max(widest_, Split(share, behind * position_units(lane, 0)).first(behind));
    equal_messages_ = false;
    return;
  }
  const Split split(share, form_.form == StageForm::AllReduce ? units_from(lane, 0) : 1);
  equal_messages_ &= split.larger() == 0 && (widest_ == 0 || widest_ == split.largest());
  widest_ = std::max(widest_, split.largest());
}

void StagedSchedule::add_stage(uint32_t lane, uint32_t position, StageForm form) {
  Stage stage;
  stage.lane = lane;
  stage.position = position;
  stage.axis = form_.lanes[lane].axes[position];
  uint32_t rounds = 1;
  for (uint32_t p = 0; p < form_.sizes.size() && !form_.whole_parts; ++p)
    if (form == StageForm::AllToAll ? p != position : p > position)
      rounds *= position_units(lane, p);
  stage.line = &line_of(
      stage.axis, form,
      form == StageForm::AllReduce ? position_units(lane, position) : form_.sizes[stage.axis],
      rounds);
  stage.first_channel = static_cast<uint32_t>(stage_of_channel_.size());
  const auto number = static_cast<uint32_t>(stages_.size());
  stage_of_channel_.insert(stage_of_channel_.end(), stage.line->schedule->extent().channels,
                           number);
  stages_of_lane_[lane].push_back(number);
  stages_.push_back(stage);
}

/// Says where the stages of the lane read and store, and which of them leads which.
void StagedSchedule::connect_stages(uint32_t lane) {
  const std::vector<uint32_t>& numbers = stages_of_lane_[lane];
  const StageForm form = form_.form;
  for (size_t i = 0; i < numbers.size(); ++i) {
    Stage& stage = stages_[numbers[i]];
    const bool first = i == 0;
    const bool last = i + 1 == numbers.size();
    if (!first)
      stage.before = numbers[i - 1];
    if (form == StageForm::AllGather && first)
      stage.from = Where::OwnInput;
    else if (!first)
      stage.from = form == StageForm::AllReduce || form == StageForm::AllGather ? Where::Output
                                                                                : Where::Scratch;
    if (form == StageForm::ReduceScatter)
      stage.into = last ? Where::OwnOutput : Where::Scratch;
    else if (form == StageForm::AllToAll && first)
      stage.into = Where::Scratch;
    if (form_.whole_parts)
      continue;
    const bool scatters = stage.line->form == StageForm::ReduceScatter;
    stage.leader_reads = scatters || (form == StageForm::AllToAll && first);
    if (stage.leader_reads && !last)
      stage.leader = numbers[i + 1];
    else if (!stage.leader_reads && stage.line->form != StageForm::AllReduce && !first)
      stage.leader = numbers[i - 1];
  }
}

void StagedSchedule::number_switches() {
  for (Stage& stage : stages_) {
    const uint32_t switches = stage.line->schedule->extent().switch_nodes;
    if (switches == 0)
      continue;
    stage.first_switch = extent_.nodes;
    const uint32_t all = switches * (ranks_ / stage.line->nodes);
    extent_.switch_nodes += all;
    extent_.nodes += all;
  }
}

const StagedSchedule::Line& StagedSchedule::line_of(uint32_t axis, StageForm form, uint32_t units,
                                                    uint32_t rounds) {
  for (const auto& line : lines_)
    if (line->axis == axis && line->form == form && line->rounds == rounds)
      return *line;
  auto line = std::make_unique<Line>();
  line->axis = axis;
  line->form = form;
  line->nodes = form_.sizes[axis];
  line->units = units;
  line->rounds = rounds;
  const bool reduces = form == StageForm::AllReduce || form == StageForm::ReduceScatter;
  Transport transport = form_.transport;
  transport.channels = 1;
  transport.slots /= form_.pieces;  // messages of one piece
  transport.whole_part = 0;
  transport.largest = 0;
  std::unique_ptr<const Schedule> whole =
      form_.algorithms[axis].make({form, line->nodes, int64_t{units} * rounds,
                                   reduces ? form_.combine : Combine::None, transport});
  ORRERY_CHECK(!form_.whole_parts || whole->extent().channels == 1,
               "the last of a rank's steps comes after all others");
  line->read_steps(*whole);
  line->schedule = rounds == 1 ? std::move(whole) : cut(std::move(whole), 1);
  return *lines_.emplace_back(std::move(line));
}

StagedSchedule::Digits StagedSchedule::coordinates(uint32_t rank, uint32_t lane) const {
  const StagedLane& along = form_.lanes[lane];
  Digits digits = {};
  for (size_t p = 0; p < along.axes.size(); ++p) {
    const uint32_t size = form_.sizes[along.axes[p]];
    const uint32_t coordinate = rank / strides_[along.axes[p]] % size;
    digits[p] = along.goes_back ? size - 1 - coordinate : coordinate;
  }
  return digits;
}

StagedSchedule::At StagedSchedule::place_of(StepRef ref) const {
  At at = place_of(ref.node, ref.channel);
  at.index = ref.index / form_.pieces;
  at.piece = ref.index % form_.pieces;
  return at;
}

StagedSchedule::At StagedSchedule::place_of(Node node, Channel channel) const {
  const uint32_t number = stage_of_channel_[channel.index()];
  const Stage& stage = stages_[number];
  const uint32_t stride = strides_[stage.axis];
  const uint32_t size = stage.line->nodes;
  At at;
  at.channel = Channel(channel.index() - stage.first_channel);
  if (extent_.is_rank(node)) {
    const uint32_t rank = node.index();
    at.stage = &stage;
    at.base = rank - rank / stride % size * stride;
    at.number = rank / (stride * size) * stride + rank % stride;
    at.coordinates = coordinates(rank, stage.lane);
    at.sub = Node(at.coordinates[stage.position]);
    return at;
  }
  const uint32_t switches = stage.line->schedule->extent().switch_nodes;
  const uint32_t lines = ranks_ / size;
  if (switches == 0 || node.index() < stage.first_switch ||
      node.index() >= stage.first_switch + switches * lines)
    return at;
  at.stage = &stage;
  at.number = (node.index() - stage.first_switch) / switches;
  at.base = at.number / stride * (stride * size) + at.number % stride;
  at.coordinates = coordinates(at.base, stage.lane);
  at.sub = Node(size + (node.index() - stage.first_switch) % switches);
  return at;
}

Node StagedSchedule::rank_on_line(const At& at, Node sub) const {
  const Stage& stage = *at.stage;
  const uint32_t size = stage.line->nodes;
  if (sub.index() >= size)
    return Node(stage.first_switch + at.number * stage.line->schedule->extent().switch_nodes +
                sub.index() - size);
  const uint32_t coordinate =
      form_.lanes[stage.lane].goes_back ? size - 1 - sub.index() : sub.index();
  return Node(at.base + coordinate * strides_[stage.axis]);
}

/// Returns the step of this schedule that is a step of the line, for the same piece.
StepRef StagedSchedule::outside(const At& at, StepRef sub) const {
  return {rank_on_line(at, sub.node), Channel(at.stage->first_channel + sub.channel.index()),
          sub.index * form_.pieces + at.piece};
}

uint32_t StagedSchedule::steps(Node node, Channel channel) const {
  const At at = place_of(node, channel);
  return at.stage == nullptr ? 0
                             : form_.pieces * at.stage->line->schedule->steps(at.sub, at.channel);
}

/// Finds the units of the axes that the round decides.
void StagedSchedule::find_units(const Stage& stage, const Digits& coordinates, uint32_t round,
                                Digits& units) const {
  if (!stage.leader)
    return;
  const Stage& leader = stages_[*stage.leader];
  const uint32_t each = leader.line->units;
  const uint32_t node = coordinates[leader.position];
  units[leader.position] = stage.leaders_order(leader).units[size_t{node} * each + round % each];
  if (form_.form != StageForm::AllToAll)
    find_units(leader, coordinates, round / each, units);
}

/// Is the inverse of find_units().
uint32_t StagedSchedule::round_of(const Stage& stage, const Digits& coordinates,
                                  const Digits& units) const {
  if (!stage.leader)
    return 0;
  const Stage& leader = stages_[*stage.leader];
  const uint32_t each = leader.line->units;
  const uint32_t node = coordinates[leader.position];
  const uint32_t place =
      stage.leaders_order(leader).places[size_t{node} * each + units[leader.position]];
  return form_.form == StageForm::AllToAll ? place
                                           : round_of(leader, coordinates, units) * each + place;
}

/// Returns the step of the stage before that stores these units; that of a whole part, the last.
StepRef StagedSchedule::made_by(const At& at, const Digits& units) const {
  const Stage& before = stages_[*at.stage->before];
  const Line& line = *before.line;
  const Node sub(at.coordinates[before.position]);
  const auto makers = line.makers.begin() + ptrdiff_t{sub.index()} * line.units;
  const auto& [channel, index] = form_.whole_parts ? *std::max_element(makers, makers + line.units)
                                                   : makers[units[before.position]];
  const uint32_t round = round_of(before, at.coordinates, units);
  return {rank_on_line(at, at.sub), Channel(before.first_channel + channel.index()),
          (round * line.length(sub, channel) + index) * form_.pieces + at.piece};
}

Slice StagedSchedule::slice(const Stage& stage, Where where, const Digits& units) const {
  const uint32_t lane = stage.lane;
  const StagedLane& along = form_.lanes[lane];
  const Area area = where == Where::Scratch                               ? Area::Scratch
                    : where == Where::Output || where == Where::OwnOutput ? Area::Output
                                                                          : Area::Input;
  if (form_.form == StageForm::AllReduce) {
    const auto positions =
        form_.whole_parts ? stage.position + 1 : static_cast<uint32_t>(along.axes.size());
    int64_t number = 0;
    for (uint32_t p = 0; p < positions; ++p)
      number = number * position_units(lane, p) + units[p];
    const int64_t behind = units_from(lane, positions);
    const Split split(shares_.count(lane), units_from(lane, 0));
    const int64_t first = split.first(number * behind);
    return {area, shares_.first(lane) + first, split.first((number + 1) * behind) - first};
  }
  int64_t part = 0;
  if (where == Where::Scratch && form_.form == StageForm::ReduceScatter) {
    // The unit of the first axis is that of the rank itself.
    for (uint32_t p = 1; p < along.axes.size(); ++p)
      part = part * form_.sizes[along.axes[p]] + units[p];
  } else if (where != Where::OwnInput && where != Where::OwnOutput) {
    for (uint32_t p = 0; p < along.axes.size(); ++p) {
      const uint32_t size = form_.sizes[along.axes[p]];
      part += int64_t{along.goes_back ? size - 1 - units[p] : units[p]} * strides_[along.axes[p]];
    }
  }
  return {area, part * part_ + shares_.first(lane), shares_.count(lane)};
}

/// Returns the slice that is a slice of the line's schedule. Sets the unit of its axis.
std::optional<Slice> StagedSchedule::slice(const At& at, const Slice& sub, Digits& units) const {
  const Stage& stage = *at.stage;
  if (!stage.has(at.sub)) {
    units[stage.position] = at.sub.index() - stage.line->nodes;
    return Slice{Area::Scratch, sub.first * widest_, slice(stage, Where::Output, units).count};
  }
  ORRERY_CHECK(sub.area != Area::Scratch, "the ranks of a line need no scratch");
  units[stage.position] = stage.line->unit(at.sub, sub.area, sub.first);
  return slice(stage, sub.area == Area::Input ? stage.from : stage.into, units);
}

/// Leaves the piece of a slice.
void StagedSchedule::take_piece(uint32_t piece, std::optional<Slice>& slice) const {
  if (!slice || form_.pieces == 1)
    return;
  const Split split(slice->count, form_.pieces);
  slice->first += split.first(piece);
  slice->count = split.count(piece);
}

Step StagedSchedule::step(StepRef ref) const {
  const At at = place_of(ref);
  const Stage& stage = *at.stage;
  const Step sub = stage.line->schedule->step({at.sub, at.channel, at.index});
  Digits units = at.coordinates;
  find_units(stage, at.coordinates, at.index / stage.line->length(at.sub, at.channel), units);
  Step step;
  step.combine = sub.combine;
  if (sub.from)
    step.from = rank_on_line(at, *sub.from);
  if (sub.to)
    step.to = rank_on_line(at, *sub.to);
  if (sub.after)
    step.after = outside(at, *sub.after);
  if (sub.target)
    step.target = slice(at, *sub.target, units);
  if (sub.source) {
    step.source = slice(at, *sub.source, units);
    const bool reads_result = stage.before && stage.has(at.sub) && sub.source->area == Area::Input;
    // A unit that is already in its place is not copied there.
    if (!step.from && step.combine == Combine::None && step.source == step.target)
      step.target.reset();
    ORRERY_CHECK(!reads_result || !step.after,
                 "a step that reads the operand waits for no other step");
    // A rank has its own unit from the start. Where lanes have other orders of the axes, sending it
    // early would hold up the first stages of these.
    if (reads_result && lanes_alike_ && form_.form == StageForm::AllGather &&
        units == at.coordinates)
      step.source = slice(stage, Where::OwnInput, units);
    else if (reads_result)
      step.after = made_by(at, units);
  }
  take_piece(at.piece, step.source);
  take_piece(at.piece, step.target);
  return step;
}

StepRef StagedSchedule::peer(StepRef ref, Half half) const {
  const At at = place_of(ref);
  return outside(at, at.stage->line->schedule->peer({at.sub, at.channel, at.index}, half));
}

std::optional<StepRef> StagedSchedule::takes_slot_of(StepRef ref) const {
  const At at = place_of(ref);
  const std::optional<StepRef> sub =
      at.stage->line->schedule->takes_slot_of({at.sub, at.channel, at.index});
  return sub ? std::optional(outside(at, *sub)) : std::nullopt;
}

void StagedSchedule::for_each_receiver(Node node, Channel channel,
                                       FunctionRef<void(const Sent&)> visit) const {
  if (!equal_messages_)
    return Schedule::for_each_receiver(node, channel, visit);
  const At at = place_of(node, channel);
  if (at.stage == nullptr)
    return;
  at.stage->line->schedule->for_each_receiver(at.sub, at.channel, [&](const Sent& sent) {
    visit(Sent{rank_on_line(at, sent.to), sent.messages * form_.pieces,
               checked_multiply(sent.elements, widest_)});
  });
}

}  // namespace orrery
