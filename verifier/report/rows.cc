#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/program/op_rules.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "simulator/analyze/collective_figures.h"
#include "simulator/analyze/device_times.h"
#include "simulator/analyze/fabric_bounds.h"
#include "simulator/network/demand.h"
#include "simulator/schedule/tape.h"
#include "verifier/report/describe.h"

namespace orrery {

namespace {

class Rows {
 public:
  Rows(const Scenario& scenario, Stages& stages, Report& report)
      : scenario_(scenario),
        program_(scenario.program),
        stages_(stages),
        report_(report),
        thread_of_(issued_by(program_)),
        bounds_(stages.fabric()),
        busiest_(stages.lowered(), stages.demands(), stages.paths()),
        reached_(program_.sites.size()) {}

  void add_ops() {
    std::vector<uint64_t> messages(program_.sites.size(), 0);
    for (size_t c = 0; c < lowered().collectives.size(); ++c)
      messages[lowered().collectives[c].site.index()] += stages_.demands().messages[c];
    report_.ops.reserve(program_.ops.size());
    for (size_t t = 0; t < program_.threads.size(); ++t) {
      const Tape& tape = lowered().tapes[t];
      const std::vector<std::optional<uint32_t>> waits = first_waits(tape);
      for (uint32_t i = 0; i < tape.size(); ++i) {
        if (!tape.begins_op(i))
          continue;
        const OpId id = tape[i].op;
        const Op& op = program_.op(id);
        OpReport& described = report_.ops.emplace_back();
        described.op = id;
        if (report_.completion)
          describe_span(described);
        if (!stages_.slacks().empty())
          described.slack = stages_.slacks()[id.index()];
        if (op.site) {
          if (side_of(op) != Side::Receives)
            described.messages = messages[op.site->index()];
          describe_collective(described, program_.threads[t],
                              waits[i] ? std::optional(tape[*waits[i]].op) : std::nullopt);
        } else {
          if (op.kind == OpKind::MpmdMap)
            described.bytes = (report_.cores[id] = cores(op))->work.bytes;
          else
            described.bytes = bytes_touched(op);
        }
      }
    }
  }

  void add_links() {
    for (size_t l = 0; report_.completion && l < stages_.demands().links.size(); ++l)
      if (stages_.demands().links[l].bytes > 0)
        report_.links.push_back({LinkId(l),
                                 stages_.demands().bytes_over(LinkId(l), stages_.fabric()),
                                 static_cast<double>(stages_.demands().links[l].wire)});
  }

  void add_devices() {
    const std::vector<std::vector<ThreadId>> threads_of = threads_by_device(program_);
    std::vector<DeviceTimes> times(threads_of.size());
    if (report_.completion)
      times = device_times(program_, lowered(), *report_.completion);
    for (uint32_t d = 0; d < threads_of.size(); ++d)
      if (report_.memory.kind_of[d])
        report_.devices.push_back(
            {LogicalId(d), threads_of[d], scenario_.cluster.device.memory, times[d]});
  }

 private:
  const Lowered& lowered() const { return stages_.lowered(); }

  void describe_span(OpReport& described) const {
    const std::span<const OpSpan> spans = report_.completion->spans[described.op.index()];
    described.start = spans.front().start;
    described.entered = spans.front().entered;
    for (const OpSpan& span : spans) {
      described.start = std::min(described.start, span.start);
      described.entered = std::min(described.entered, span.entered);
      described.end = std::max(described.end, span.end);
    }
  }

  void describe_collective(OpReport& described, const Thread& thread, std::optional<OpId> waiting) {
    const Op& op = program_.op(described.op);
    // The row of the psend says how the message passes.
    const bool receives = side_of(op) == Side::Receives;
    if (!receives)
      described.choice = lowered().choices[op.site->index()];
    LogicalId device = thread.devices.front();
    Duration took;
    if (report_.completion) {
      const auto launch = [&](LogicalId id) {
        const Member member = lowered().member(program_, described.op, id);
        return lowered().collective(member.collective).figures.launch;
      };
      const Exposure exposed = exposure(thread, *report_.completion, launch, described.op, waiting);
      described.exposed = exposed.exposed;
      described.hidden = exposed.hidden;
      device = exposed.device;
      took = exposed.took;
    }
    const Collective& collective =
        lowered().collective(lowered().member(program_, described.op, device).collective);
    const size_t group = collective.members.size();
    described.bytes =
        nccl_size(op.kind, itemsize(collective.work) * exchanged_elements(op, collective), group);
    // A precv may be issued long before its message is sent, or after all of it has arrived. So it
    // has no bandwidth.
    if (took > Duration() && !receives) {
      const Bandwidths figures = bandwidths(op.kind, described.bytes, group, took);
      described.algbw_GBps = figures.algbw_GBps;
      described.busbw_GBps = figures.busbw_GBps;
      described.reached = reached(op, collective);
    }
  }

  /// Returns how close a group came to its bound. All ops of a site have that of the first.
  std::shared_ptr<const ReachedBound> reached(const Op& op, const Collective& collective) {
    std::optional<std::shared_ptr<const ReachedBound>>& known = reached_[op.site->index()];
    if (known)
      return *known;
    known.emplace();
    const auto ranks = static_cast<uint32_t>(collective.members.size());
    const std::optional<FabricBound> bound = bounds_.of(
        exchanged_data(op, ranks, collective.work, exchanged_operand(program_, op).shape.elements(),
                       tables_of(lowered(), collective)),
        std::span(collective.vertices.begin(), ranks));
    if (bound)
      *known = std::make_shared<const ReachedBound>(
          ReachedBound{*bound, time_of_group(op, collective), busiest_.of(collective),
                       program_.site(*op.site).groups.size()});
    return *known;
  }

  /// Returns the time from the begin of the first launch to the last end.
  Duration time_of_group(const Op& op, const Collective& collective) const {
    std::optional<Instant> entered;
    Instant end;
    const auto add = [&](const OpSpan& span) {
      entered = std::min(entered.value_or(span.entered), span.entered);
      end = std::max(end, span.end);
    };
    const std::vector<OpId>& ops = program_.site(*op.site).ops;
    for (const OpId id : ops) {
      const std::vector<LogicalId>& devices = program_.thread(thread_of_[id.index()]).devices;
      const std::span<const OpSpan> spans = report_.completion->spans[id.index()];
      if (ops.size() == 1) {
        for (const LogicalId member : collective.members)
          add(spans[*index_among(devices, member)]);
        break;
      }
      for (size_t d = 0; d < devices.size(); ++d)
        if (&lowered().collective(lowered().member(program_, id, devices[d]).collective) ==
            &collective)
          add(spans[d]);
    }
    return collective.figures.launch + (end - *entered);
  }

  /// Returns the elements of a rank; if ranks exchange by tables, of the one that sends most.
  int64_t exchanged_elements(const Op& op, const Collective& collective) const {
    const Shape operand = exchanged_operand(program_, op).shape;
    const RaggedGroup* const tables = tables_of(lowered(), collective);
    return tables == nullptr ? operand.elements() : tables->most_sent() * operand.elements_from(1);
  }

  /// Copies of an op in iterations of a loop share what they say.
  std::shared_ptr<const CoreReport> cores(const Op& op) {
    std::vector<std::string> key;
    for (const ValueId operand : op.operands)
      key.push_back(text(program_.value(operand).type, program_.mesh));
    auto& known = cores_[{&*op.attributes.core_map("functions"), std::move(key)}];
    if (!known) {
      const DeviceFigures& device = scenario_.cluster.device;
      CoreReport made{cores_of(program_, op), {}, cost_of(program_, op), {}};
      made.times = core_times(made.cores, device);
      made.spaces = space_uses(made.cores, device);
      known = std::make_shared<const CoreReport>(std::move(made));
    }
    return known;
  }

  Bytes bytes_touched(const Op& op) const {
    return rules(op.kind).family == Family::Local ? cost_of(program_, op).bytes : Bytes();
  }

  const Scenario& scenario_;
  const Program& program_;
  Stages& stages_;
  Report& report_;
  const std::vector<ThreadId> thread_of_;  // per op
  FabricBounds bounds_;
  BusiestLinks busiest_;
  std::vector<std::optional<std::shared_ptr<const ReachedBound>>> reached_;  // per site, once known
  std::map<std::pair<const CoreMap*, std::vector<std::string>>, std::shared_ptr<const CoreReport>>
      cores_;  // by map and operands
};

}  // namespace

void add_rows(const Scenario& scenario, Stages& stages, Report& report) {
  Rows rows(scenario, stages, report);
  rows.add_ops();
  rows.add_links();
  rows.add_devices();
}

}  // namespace orrery
