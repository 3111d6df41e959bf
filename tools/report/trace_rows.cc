#include "tools/report/trace_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "tools/report/json_writer.h"

namespace orrery {
namespace {

std::string microseconds_of(int64_t picoseconds) {
  return fmt::format("{}.{:06}", picoseconds / 1'000'000, picoseconds % 1'000'000);
}

}  // namespace

std::vector<ListSlice> slices_of(const ListRuns& runs, ListId list) {
  std::vector<ListSlice> slices;
  const Tape& tape = runs.tape(list);
  for (uint32_t i = 0; i < tape.size(); ++i) {
    const Instruction& instruction = tape[i];
    const OpSpan& span = runs.span(instruction.op, list);
    if (instruction.kind == Instruction::Kind::Local) {
      slices.push_back({ListSlice::Kind::Compute, {}, instruction.op, {span.entered, span.end}});
    } else if (instruction.kind == Instruction::Kind::Wait) {
      if (span.start < span.end)
        slices.push_back(
            {ListSlice::Kind::Wait, {}, tape[tape.enter_of(i)].op, {span.start, span.end}});
    } else {
      const Instant called = runs.at(list, *runs.last_met(list, {MomentKind::Entered, i}));
      if (called < span.entered)
        slices.push_back(
            {ListSlice::Kind::Launch, instruction.stream, instruction.op, {called, span.entered}});
      slices.push_back({ListSlice::Kind::Collective,
                        instruction.stream,
                        instruction.op,
                        {span.entered, span.end}});
    }
  }
  return slices;
}

std::vector<LiveBytes> live_bytes(const Report& report, const ListRuns& runs,
                                  const DeviceReport& device, ListId first) {
  const Program& program = report.scenario->program;
  struct Change {
    Instant at;
    size_t list;
    Bytes live;
  };
  std::vector<Change> changes;
  std::vector<Bytes> lives;  // per list of the device
  for (size_t l = 0; l < device.threads.size(); ++l) {
    const ListId list(first.index() + l);
    const ThreadId thread = device.threads[l];
    const std::vector<Bytes>& live = report.memory.of(device.device, thread).live;
    const std::vector<OpId>& ops = program.thread(thread).issue_order;
    for (size_t p = 0; p < ops.size(); ++p)
      changes.push_back({runs.span(ops[p], list).start, l, live[p]});
    lives.push_back(live.empty() ? Bytes() : live.front());
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.at < b.at; });
  const DeviceMemory& memory = report.memory.of(device.device);
  if (changes.empty())
    return {{Instant(), memory.peak}};
  std::vector<LiveBytes> shown;
  for (const Change& change : changes) {
    lives[change.list] = change.live;
    const Bytes live = std::accumulate(lives.begin(), lives.end(), memory.reserved);
    if (shown.empty() || live != shown.back().live)
      shown.push_back({change.at, live});
  }
  return shown;
}

std::string microseconds(Instant instant) {
  return microseconds_of(instant.picoseconds());
}

std::string complete(Row row, const char* category, const std::string& name, TimeSpan span) {
  return fmt::format(R"("ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{})",
                     category, name, row.process, row.thread, microseconds(span.begin),
                     microseconds_of((span.end - span.begin).count()));
}

TraceFile::TraceFile(std::ostream& out) : out_(out) {
  text_ = R"({"displayTimeUnit":"ns","traceEvents":[)";
}

void TraceFile::name_process(uint32_t process, const std::string& name, uint32_t sort_index) {
  event(R"("ph":"M","name":"process_name","pid":{},"args":{{"name":{}}})", process,
        json_quoted(name));
  event(R"("ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}})", process,
        sort_index);
}

void TraceFile::name_thread(Row row, const std::string& name, uint32_t sort_index) {
  event(R"("ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}})", row.process,
        row.thread, json_quoted(name));
  event(R"("ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}})",
        row.process, row.thread, sort_index);
}

void TraceFile::end(const std::string& other_data) {
  text_ += fmt::format("\n],\"otherData\":{{{}}}}}\n", other_data);
  pass_on();
}

void TraceFile::pass_on() {
  out_ << text_;
  text_.clear();
}

MeasuredRows::MeasuredRows(const Report& report, uint32_t first_number)
    : program_(report.scenario->program), next_(first_number) {
  const cuda::Measurement& measured = *report.gpus->measurement;
  std::map<LogicalId, std::array<std::vector<Shown>, 3>> slices;  // by kind
  const auto add = [&](LogicalId device, Kind kind, Shown shown) {
    slices[device][static_cast<size_t>(kind)].push_back(shown);
  };
  for (const auto& [of, span] : spans_on_devices(measured)) {
    const auto& [op, device] = of;
    add(device, program_.op(op).site ? Kind::Communication : Kind::Compute,
        {op, std::nullopt, span});
  }
  for (const auto& [timed, span] : measured.spans)
    if (timed.part.step)
      add(timed.device, Kind::Steps, {timed.part.op, timed.part.step, span});
  for (auto& [id, kinds] : slices) {
    Device& device = devices_.emplace_back();
    device.id = id;
    device.process = next_;  // the number of its first row, which is not empty
    for (const Kind kind : {Kind::Compute, Kind::Communication, Kind::Steps})
      lay_out(device, kind, std::move(kinds[static_cast<size_t>(kind)]));
    for (Lane& lane : device.lanes)
      lane.thread = next_++;
  }
}

void MeasuredRows::lay_out(Device& device, Kind kind, std::vector<Shown> slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const Shown& a, const Shown& b) {
    return std::tie(a.span.begin, a.span.end) < std::tie(b.span.begin, b.span.end);
  });
  const auto first = static_cast<ptrdiff_t>(device.lanes.size());
  for (const Shown& shown : slices) {
    const auto lane = std::find_if(
        device.lanes.begin() + first, device.lanes.end(),
        [&](const Lane& each) { return each.slices.back().span.end <= shown.span.begin; });
    if (lane != device.lanes.end())
      lane->slices.push_back(shown);
    else
      device.lanes.push_back(
          {kind,
           static_cast<uint32_t>(device.lanes.size()) - static_cast<uint32_t>(first),
           0,
           {shown}});
  }
}

std::string MeasuredRows::name(const Lane& lane) {
  static constexpr std::array<const char*, 3> kNames = {"compute", "communication", "steps"};
  const char* const kind = kNames[static_cast<size_t>(lane.kind)];
  return lane.number == 0 ? kind : fmt::format("{} [{}]", kind, lane.number);
}

void MeasuredRows::write(TraceFile& file, uint32_t sort_index) const {
  for (const Device& device : devices_) {
    file.name_process(device.process, fmt::format("device {}, measured", device.id.index()),
                      sort_index++);
    uint32_t row = 0;
    for (const Lane& lane : device.lanes) {
      file.name_thread({device.process, lane.thread}, name(lane), row++);
      for (const Shown& shown : lane.slices)
        write(file, {device.process, lane.thread}, shown);
    }
  }
}

void MeasuredRows::write(TraceFile& file, Row row, const Shown& shown) const {
  const std::string op = json_quoted(program_.op(shown.op).name);
  const TimeSpan span = {Instant() + shown.span.begin, Instant() + shown.span.end};
  if (!shown.step)
    return file.event("{}", complete(row, "measured", op, span));
  const StepRef& step = *shown.step;
  file.event(R"({},"args":{{"op":{},"node":{},"channel":{},"step":{}}})",
             complete(row, "measured_step", json_quoted(fmt::format("step {}", step.index)), span),
             op, step.node.index(), step.channel.index(), step.index);
}

SwitchRows::SwitchRows(const Lowered& lowered, const ListRuns& runs,
                       std::span<const CollectiveId> collectives, uint32_t first_number)
    : next_(first_number) {
  std::vector<CollectiveId> by_begin;
  for (const CollectiveId id : collectives) {
    const Collective& collective = lowered.collective(id);
    const Extent& extent = collective.schedule->extent();
    if (extent.switch_nodes == 0)
      continue;
    LaneUse use{collective.vertices.back(), 0, extent.ranks(), {}, {}};
    for (uint32_t n = 0; n < extent.ranks(); ++n) {
      const OpSpan& span = runs.span(runs.lists().enter_of(id, Node(n)));
      use.begin = n == 0 ? span.entered : std::min(use.begin, span.entered);
      use.end = std::max(use.end, span.end);
    }
    uses_.emplace(id, use);
    by_begin.push_back(id);
  }
  std::sort(by_begin.begin(), by_begin.end(), [&](CollectiveId a, CollectiveId b) {
    return std::tuple(uses_.at(a).begin, a) < std::tuple(uses_.at(b).begin, b);
  });
  for (const CollectiveId id : by_begin) {
    LaneUse& use = uses_.at(id);
    std::vector<Lane>& lanes = switches_[use.place].lanes;
    const auto free = std::find_if(lanes.begin(), lanes.end(),
                                   [&](const Lane& lane) { return lane.free <= use.begin; });
    use.lane = static_cast<size_t>(free - lanes.begin());
    if (free == lanes.end())
      lanes.emplace_back();
    Lane& lane = lanes[use.lane];
    const Schedule& schedule = *lowered.collective(id).schedule;
    const Extent& extent = schedule.extent();
    lane.nodes = std::max(lane.nodes, extent.switch_nodes);
    lane.channels = std::max(lane.channels, extent.channels);
    lane.free = use.end;
    for (uint32_t n = extent.ranks(); n < extent.nodes; ++n)
      for (uint32_t c = 0; c < extent.channels; ++c)
        if (schedule.steps(Node(n), Channel(c)) > 0)
          lane.used.emplace(n - extent.ranks(), c);
  }
  for (auto& [place, one] : switches_) {
    one.process = next_++;
    for (Lane& lane : one.lanes) {
      lane.first_thread = next_;
      next_ += lane.nodes * lane.channels;
    }
  }
}

Row SwitchRows::first_row(CollectiveId collective, Node node) const {
  const LaneUse& use = uses_.at(collective);
  const Switch& one = switches_.at(use.place);
  const Lane& lane = one.lanes[use.lane];
  return {one.process, lane.first_thread + (node.index() - use.ranks) * lane.channels};
}

void SwitchRows::name(TraceFile& file, const Fabric& fabric, uint32_t sort_index) const {
  for (const auto& [place, one] : switches_) {
    file.name_process(one.process, fabric.vertex_text(place), sort_index++);
    uint32_t row = 0;
    for (size_t l = 0; l < one.lanes.size(); ++l) {
      const Lane& lane = one.lanes[l];
      for (const auto& [node, channel] : lane.used)
        file.name_thread({one.process, lane.first_thread + node * lane.channels + channel},
                         fmt::format("lane [{}] node [{}] channel [{}]", l, node, channel), row++);
    }
  }
}

}  // namespace orrery
