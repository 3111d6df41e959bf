#include "tools/report/trace.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "simulator/analyze/list_runs.h"
#include "simulator/event/event_log.h"
#include "simulator/network/demand.h"
#include "simulator/network/paths.h"
#include "tools/report/json_writer.h"
#include "tools/report/trace_rows.h"

namespace orrery {
namespace {

/// The rows of a communication stream of a list: one for its collectives, and after it one for each
/// channel.
struct StreamRows {
  StreamId stream;
  uint32_t channels = 0;
  uint32_t first_thread = 0;
};

class Trace {
 public:
  Trace(const Report& report, std::ostream& out, const TraceOptions& options)
      : report_(report),
        program_(report.scenario->program),
        lowered_(*report.lowered),
        fabric_(report.fabric()),
        runs_(program_, lowered_, *report.completion),
        paths_(fabric_),
        demands_(demands(lowered_, paths_)),
        file_(out),
        reports_(program_.ops.size()),
        streams_(runs_.size()),
        compute_threads_(runs_.size()),
        collectives_(lowered_.collectives.size()),
        named_links_(fabric_.count_links(), false) {
    for (const Op& op : program_.ops)
      names_.push_back(json_quoted(op.name));
    for (const OpReport& op : report.ops)
      reports_[op.op.index()] = &op;
    choose_collectives(options);
    lay_out_rows();
  }

  TraceSize write() {
    name_rows();
    for (const auto& [entry, name] : report_.critical_path)
      file_.event(R"({},"args":{{"device":{}}})",
                  complete(critical_path_row(), "critical_path", json_quoted(name),
                           {entry.start, entry.end}),
                  entry.device.index());
    uint32_t next = 0;  // lists are in the order of devices
    for (const DeviceReport& device : report_.devices) {
      const uint32_t first = next;
      for (; next < runs_.size() && runs_.device(ListId(next)) == device.device; ++next)
        write_ops(ListId(next));
      write_memory(device, ListId(first));
    }
    EventLog log([&](std::span<const HalfEvent> events) {
      for (const HalfEvent& event : events)
        write_half(event);
    });
    record(program_, lowered_, paths_, demands_, *report_.completion, log);
    if (measured_)
      measured_->write(file_, measured_sort_index());
    file_.end(fmt::format(
        R"("scenario":{},"fingerprint":"{}","times":"microseconds; six decimals are whole picoseconds","messages_left_out":{})",
        json_quoted(report_.scenario->name), report_.fingerprint, left_out_));
    return {file_.events(), left_out_};
  }

 private:
  /// This is the state of a collective whose messages are written.
  struct Shown {
    uint64_t first_message = 0;  // the number of its first message
    uint64_t steps = 0;          // the most of any channel
    std::vector<Instant>
        went_on;            // per node and channel: the instant at which its last half retired
    std::vector<Row> rows;  // per node: the row of its first channel
    std::vector<OpId> ops;  // per node; a switch has that of rank 0
  };

  // Perfetto shows a process as its name and number ("device 3"). It puts the thread with the
  // process's number first and sorts the others by number, so thread numbers are unique.
  uint32_t process_of(LogicalId device) const { return device.index(); }
  uint32_t links_process() const { return program_.mesh.devices(); }
  /// Returns the sort index of measured rows, which stand after the links and the switches.
  uint32_t measured_sort_index() const { return 2 + links_process() + fabric_.switches(); }
  Row critical_path_row() const { return {links_process() + 1, links_process() + 1}; }
  Row compute_row(ListId list) const {
    return {process_of(runs_.device(list)), compute_threads_[list.index()]};
  }

  void choose_collectives(const TraceOptions& options) {
    const std::vector<uint64_t>& messages = demands_.messages;
    uint64_t written = 0;
    uint64_t first = 0;
    bool fits = true;
    for (size_t c = 0; c < messages.size(); ++c) {
      fits = fits && messages[c] <= options.most_messages - written;
      if (!fits) {
        left_out_ += messages[c];
        continue;
      }
      written += messages[c];
      const Schedule& schedule = *lowered_.collectives[c].schedule;
      const Extent& extent = schedule.extent();
      Shown& shown = collectives_[c].emplace();
      shown.first_message = first;
      for (uint32_t n = 0; n < extent.nodes; ++n)
        for (uint32_t channel = 0; channel < extent.channels; ++channel)
          shown.steps = std::max<uint64_t>(shown.steps, schedule.steps(Node(n), Channel(channel)));
      first += shown.steps * extent.nodes * extent.channels;
    }
  }

  void lay_out_rows() {
    for (size_t c = 0; c < collectives_.size(); ++c) {
      const Collective& collective = lowered_.collectives[c];
      const uint32_t channels = collectives_[c] ? collective.schedule->extent().channels : 0;
      for (size_t n = 0; n < collective.members.size(); ++n) {
        StreamRows& rows = stream(list_of(CollectiveId(c), n), collective.stream_of(Node(n)));
        rows.channels = std::max(rows.channels, channels);
      }
    }
    next_thread_ = links_process() + 2;
    for (uint32_t l = 0; l < runs_.size(); ++l) {
      const LogicalId device = runs_.device(ListId(l));
      const bool first = l == 0 || runs_.device(ListId(l - 1)) != device;
      compute_threads_[l] = first ? process_of(device) : next_thread_++;
    }
    for (std::vector<StreamRows>& streams : streams_) {
      std::sort(streams.begin(), streams.end(),
                [](const StreamRows& a, const StreamRows& b) { return a.stream < b.stream; });
      for (StreamRows& rows : streams) {
        rows.first_thread = next_thread_;
        next_thread_ += 1 + rows.channels;
      }
    }
    first_link_thread_ = next_thread_;
    next_thread_ += fabric_.count_links();
    std::vector<CollectiveId> shown;
    for (size_t c = 0; c < collectives_.size(); ++c)
      if (collectives_[c])
        shown.emplace_back(c);
    switches_.emplace(lowered_, runs_, shown, next_thread_);
    next_thread_ = switches_->end();
    if (report_.gpus && report_.gpus->measurement) {
      measured_.emplace(report_, next_thread_);
      next_thread_ = measured_->end();
    }
    for (const CollectiveId id : shown)
      prepare(*collectives_[id.index()], id);
  }

  void prepare(Shown& shown, CollectiveId id) {
    const Collective& collective = lowered_.collective(id);
    const uint32_t channels = collective.schedule->extent().channels;
    for (size_t n = 0; n < collective.members.size(); ++n) {
      const EnterRef entry = runs_.lists().enter_of(id, Node(n));
      shown.rows.push_back({process_of(collective.members[n]),
                            stream(entry.list, collective.stream_of(Node(n))).first_thread + 1});
      shown.ops.push_back(runs_.lists().op(entry));
      shown.went_on.insert(shown.went_on.end(), channels,
                           runs_.at(entry.list, {MomentKind::Entered, entry.enter}));
    }
    for (size_t n = collective.members.size(); n < collective.schedule->extent().nodes; ++n) {
      shown.rows.push_back(switches_->first_row(id, Node(n)));
      shown.ops.push_back(shown.ops.front());
      shown.went_on.insert(shown.went_on.end(), channels, switches_->begin(id));
    }
  }

  ListId list_of(CollectiveId id, size_t node) const {
    return runs_.lists().enter_of(id, Node(node)).list;
  }

  StreamRows& stream(ListId list, StreamId id) {
    std::vector<StreamRows>& streams = streams_[list.index()];
    for (StreamRows& rows : streams)
      if (rows.stream == id)
        return rows;
    return streams.emplace_back(StreamRows{id, 0, 0});
  }

  void name_rows() {
    file_.name_process(critical_path_row().process, "critical path", 0);
    file_.name_thread(critical_path_row(), "ops", 0);
    uint32_t sort_index = 0;
    for (uint32_t l = 0; l < runs_.size(); ++l) {
      const uint32_t process = process_of(runs_.device(ListId(l)));
      const bool first = l == 0 || process_of(runs_.device(ListId(l - 1))) != process;
      const bool last = l + 1 == runs_.size() || process_of(runs_.device(ListId(l + 1))) != process;
      // The program's name is shown if a device has several lists.
      const std::string of =
          first && last
              ? ""
              : fmt::format(" of {}", program_.thread(runs_.lists()[ListId(l)].thread).name);
      if (first) {
        file_.name_process(process, "device", 1 + process);
        sort_index = 0;
      }
      file_.name_thread(compute_row(ListId(l)), "compute" + of, first ? 0 : ++sort_index);
      for (const StreamRows& rows : streams_[l]) {
        const std::string name = fmt::format("communication [{}]{}", rows.stream.index(), of);
        file_.name_thread({process, rows.first_thread}, name, ++sort_index);
        for (uint32_t c = 0; c < rows.channels; ++c)
          file_.name_thread({process, rows.first_thread + 1 + c},
                            fmt::format("{} channel [{}]", name, c), ++sort_index);
      }
    }
    file_.name_process(links_process(), "links", 1 + links_process());
    switches_->name(file_, fabric_, 2 + links_process());
  }

  std::string op_figures(OpId id) const {
    const Op& op = program_.op(id);
    const OpReport& figures = *reports_[id.index()];
    std::string text =
        fmt::format(R"("op":"{}","bytes":{})", op_name(op.kind, op.issue), figures.bytes.count());
    if (op.reshard)
      text += fmt::format(R"(,"reshard":{})", json_quoted(program_.reshards[*op.reshard].name()));
    if (figures.choice)
      text += fmt::format(R"(,"algorithm":{},"because":{},"messages":{})",
                          json_quoted(figures.choice->algorithm),
                          json_quoted(figures.choice->because), figures.messages);
    return text;
  }

  void write_ops(ListId list) {
    const Row compute = compute_row(list);
    for (const ListSlice& slice : slices_of(runs_, list)) {
      const std::string& name = names_[slice.op.index()];
      const Row row =
          slice.stream ? Row{compute.process, stream(list, *slice.stream).first_thread} : compute;
      switch (slice.kind) {
        case ListSlice::Kind::Compute:
          file_.event(R"({},"args":{{{}}})", complete(row, "compute", name, slice.span),
                      op_figures(slice.op));
          if (const CoreReport* const cores = report_.cores_of(slice.op))
            write_cores(row, slice.span, *cores);
          break;
        case ListSlice::Kind::Wait:
          file_.event("{}", complete(row, "wait", waits_for(slice.op), slice.span));
          break;
        case ListSlice::Kind::Launch:
          file_.event("{}", complete(row, "launch", "\"launch\"", slice.span));
          break;
        case ListSlice::Kind::Collective:
          file_.event(R"({},"args":{{{}}})", complete(row, "collective", name, slice.span),
                      op_figures(slice.op));
          break;
      }
    }
  }

  /// Writes what each instance of an mpmd_map does. Where a fault slows the op down, all of it is
  /// as much slower.
  void write_cores(Row compute, TimeSpan op, const CoreReport& of) {
    const Duration own = of.times.whole.takes;
    if (own == Duration())
      return;
    const auto at = [&](Instant instant) {
      const Int128 since = (instant - Instant() + of.times.whole.launch).count();
      return op.begin + Duration(checked_narrow(since * (op.end - op.begin).count() / own.count()));
    };
    for (const CoreRun& run : of.times.walk.runs) {
      const std::string instance = of.cores.text(of.cores.instances[run.place.instance]);
      const auto [row, is_new] = core_threads_.try_emplace({compute.thread, instance}, 0);
      if (is_new) {
        row->second = next_thread_++;
        // The rows of instances come after those of streams.
        file_.name_thread({compute.process, row->second}, instance, kFirstCoreRow + row->second);
      }
      const CoreOp& step = *of.cores.step(run.place).op;
      const bool waits = step.kind == CoreOp::Kind::Wait;
      file_.event(R"({},"args":{{"at":"{}"}})",
                  complete({compute.process, row->second}, waits ? "wait" : "compute",
                           json_quoted(word(step)), {at(run.begin), at(run.end)}),
                  of.cores.path(run.place));
    }
  }

  std::string waits_for(OpId collective) const {
    return json_quoted("wait for " + program_.op(collective).name);
  }

  /// Writes the memory counter. `first` is the first of the device's lists.
  void write_memory(const DeviceReport& device, ListId first) {
    std::string capacity;
    if (device.capacity)
      capacity = fmt::format(",\"capacity\":{}", device.capacity->count());
    for (const LiveBytes& change : live_bytes(report_, runs_, device, first))
      file_.event(R"("ph":"C","name":"memory","pid":{},"ts":{},"args":{{"live":{}{}}})",
                  process_of(device.device), microseconds(change.at), change.live.count(),
                  capacity);
  }

  void write_half(const HalfEvent& event) {
    std::optional<Shown>& shown = collectives_[event.collective.index()];
    if (!shown)
      return;
    const Collective& collective = lowered_.collective(event.collective);
    const Schedule& schedule = *collective.schedule;
    const StepRef ref = event.step;
    const Step step = schedule.step(ref);
    const Row row = row_of(*shown, ref);
    Instant& went_on = shown->went_on[schedule.extent().number_of(ref.node, ref.channel)];
    const std::string what =
        fmt::format(R"("op":{},"step":{},"bytes":{})", names_[shown->ops[ref.node.index()].index()],
                    ref.index, (itemsize(collective.work) * step.count()).count());
    const std::optional<Node> other = event.half == Half::Receive ? step.from : step.to;
    const auto name_of = [&](const char* before, Node node) {
      return json_quoted(fmt::format("{} {}", before, place_name(collective, node)));
    };
    if (went_on < event.begin)
      file_.event(R"({},"args":{{{}}})",
                  complete(row, "wait", other ? name_of("wait for", *other) : "\"wait\"",
                           {went_on, event.begin}),
                  what);
    went_on = event.end;
    if (!other) {
      if (event.begin < event.end)
        file_.event(
            R"({},"args":{{{}}})",
            complete(row, "step",
                     timed_actions(step.form(), event.half).combines ? "\"reduce\"" : "\"copy\"",
                     {event.begin, event.end}),
            what);
      return;
    }
    const bool receives = event.half == Half::Receive;
    file_.event(
        R"({},"args":{{{}}})",
        complete(row, receives ? "receive" : "send",
                 name_of(receives ? "receive from" : "send to", *other), {event.begin, event.end}),
        what);
    const StepRef receiver = receives ? ref : schedule.peer(ref, Half::Send);
    file_.event(R"("ph":"{}",{}"cat":"message","name":"message","id":{},"pid":{},"tid":{},"ts":{})",
                receives ? "f" : "s", receives ? "\"bp\":\"e\"," : "",
                message_number(*shown, schedule.extent(), receiver), row.process, row.thread,
                microseconds(event.begin));
    if (!receives && event.begin < event.end)
      write_links(collective, event, *step.to, what);
  }

  static Row row_of(const Shown& shown, StepRef ref) {
    const Row& first = shown.rows[ref.node.index()];
    return {first.process, first.thread + ref.channel.index()};
  }

  /// Returns the name of a node. Devices are named by their number and switches by their name.
  std::string place_name(const Collective& collective, Node node) const {
    return collective.is_member(node) ? fmt::format("{}", collective.members[node.index()].index())
                                      : fabric_.vertex_text(collective.vertices[node.index()]);
  }
  std::string place_value(const Collective& collective, Node node) const {
    const std::string name = place_name(collective, node);
    return collective.is_member(node) ? name : json_quoted(name);
  }

  static uint64_t message_number(const Shown& shown, const Extent& extent, StepRef receiver) {
    const uint64_t channel = extent.number_of(receiver.node, receiver.channel);
    return shown.first_message + channel * shown.steps + receiver.index;
  }

  void write_links(const Collective& collective, const HalfEvent& event, Node to,
                   const std::string& what) {
    const VertexId from = collective.vertices[event.step.node.index()];
    const Path& path =
        paths_.between(from, collective.vertices[to.index()], event.step.channel.index());
    const Shown& shown = *collectives_[event.collective.index()];
    const uint32_t sender = row_of(shown, event.step).thread;
    for (const LinkId link : path.links)
      file_.event(
          R"({},"args":{{{},"from":{},"to":{}}})",
          complete({links_process(), link_thread(link, sender)}, "link",
                   names_[shown.ops[event.step.node.index()].index()], {event.begin, event.end}),
          what, place_value(collective, event.step.node), place_value(collective, to));
  }

  /// Returns the thread of a link. Messages share a link, and the intervals of one thread must not
  /// overlap. So there is a thread for each link and row that sends over it. All threads of a link
  /// have its name.
  uint32_t link_thread(LinkId link, uint32_t sender) {
    const auto [known, is_new] = link_threads_.try_emplace({link, sender}, 0);
    if (is_new) {
      // There is one row per link in the order of their ids. Further rows of a link come after all
      // these.
      known->second =
          named_links_[link.index()] ? next_thread_++ : first_link_thread_ + link.index();
      named_links_[link.index()] = true;
      file_.name_thread({links_process(), known->second}, fabric_.link_text(link), link.index());
    }
    return known->second;
  }

  const Report& report_;
  const Program& program_;
  const Lowered& lowered_;
  const Fabric& fabric_;
  const ListRuns runs_;
  Paths paths_;
  const Demands demands_;
  TraceFile file_;
  std::vector<std::string> names_;                 // of ops, quoted
  std::vector<const OpReport*> reports_;           // per op
  std::vector<std::vector<StreamRows>> streams_;   // per list
  std::vector<uint32_t> compute_threads_;          // per list
  std::vector<std::optional<Shown>> collectives_;  // those whose messages are written
  std::optional<SwitchRows> switches_;
  std::optional<MeasuredRows> measured_;
  std::map<std::pair<LinkId, uint32_t>, uint32_t> link_threads_;  // by the sender's thread
  std::vector<bool> named_links_;                                 // per link: whether it has a row
  static constexpr uint32_t kFirstCoreRow = 1U << 20U;
  std::map<std::pair<uint32_t, std::string>, uint32_t> core_threads_;  // by the list's compute row
  uint32_t first_link_thread_ = 0;
  uint32_t next_thread_ = 0;
  uint64_t left_out_ = 0;
};

}  // namespace

TraceSize write_trace(const Report& report, std::ostream& out, const TraceOptions& options) {
  return Trace(report, out, options).write();
}

}  // namespace orrery
