#include "tools/report/measured_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "tools/report/json_writer.h"

namespace orrery {

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
  const Stretch stretch = {Instant() + shown.span.begin, Instant() + shown.span.end};
  if (!shown.step)
    return file.event("{}", complete(row, "measured", op, stretch));
  const StepRef& step = *shown.step;
  file.event(
      R"({},"args":{{"op":{},"node":{},"channel":{},"step":{}}})",
      complete(row, "measured_step", json_quoted(fmt::format("step {}", step.index)), stretch), op,
      step.node.index(), step.channel.index(), step.index);
}

}  // namespace orrery
