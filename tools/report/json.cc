#include "tools/report/json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/array/text.h"
#include "models/program/rules.h"
#include "tools/report/figures.h"
#include "tools/report/gpus.h"
#include "tools/report/json_writer.h"
#include "tools/report/op_entries.h"
#include "verifier/report.h"

namespace orrery {
namespace {

void write_exposed(JsonWriter& json, const Report& report) {
  const std::optional<Exposed> most = most_exposed(report);
  if (!most)
    return json.value(nullptr);
  json.object([&] {
    json.key("device").value(most->device.index());
    json.key("exposed_ps").value(most->exposed.count());
    json.key("share_of_makespan").value(most->share);
  });
}

void write_time(JsonWriter& json, const Report& report) {
  if (!report.completion)
    return json.value(nullptr);
  const Completion& completion = *report.completion;
  json.object([&] {
    json.key("makespan_ps").value(completion.makespan.picoseconds());
    json.key("by").value(name(completion.by));
    json.key("because").value(completion.because);
    json.key("messages").value(completion.messages);
    write_exposed(json.key("exposed_communication"), report);
    json.key("critical_path").array([&] {
      for (const OnPath& on : report.critical_path)
        json.object([&] {
          const PathEntry& entry = on.entry;
          json.key("op").value(on.name);
          json.key("device").value(entry.device.index());
          json.key("start_ps").value(entry.start.picoseconds());
          json.key("end_ps").value(entry.end.picoseconds());
          if (!entry.rounds.empty())
            json.key("rounds").array([&] {
              for (const PathEntry::Round& round : entry.rounds)
                json.object([&] {
                  json.key("times").value(round.times);
                  json.key("every_ps").value(round.every.count());
                });
            });
        });
    });
  });
}

/// Returns a time, or nothing if the program does not end.
std::optional<int64_t> picoseconds(const Report& report, int64_t count) {
  return report.completion ? std::optional(count) : std::nullopt;
}

/// Writes a member that is an array of `all`, each written by `write`.
template <class Entries, class Write>
void write_all(JsonWriter& json, std::string_view key, const Entries& all, Write write) {
  json.key(key).array([&] {
    for (const auto& entry : all)
      write(entry);
  });
}

/// Writes how close a collective came to what its fabric allows.
void write_reached(JsonWriter& json, const Report& report, const ReachedBound& reached) {
  constexpr size_t kMostLinks = 4;
  const Fabric& fabric = report.fabric();
  const FabricBound& bound = reached.bound;
  json.object([&] {
    json.key("share").value(reached.share());
    json.key("took_ps").value(reached.took.count());
    json.key("latency_ps").value(bound.latency.count());
    json.key("cut_ps").value(bound.cut.count());
    json.key("crossing_bytes").value(bound.crossing.count());
    json.key("link_count").value(bound.links.size());
    json.key("links").array([&] {
      for (size_t l = 0; l < std::min(bound.links.size(), kMostLinks); ++l)
        json.value(fabric.link_text(bound.links[l]));
    });
    json.key("busiest");
    if (!reached.busiest)
      return json.value(nullptr);
    json.object([&] {
      json.key("link").value(fabric.link_text(reached.busiest->link));
      json.key("bytes").value(reached.busiest->bytes.count());
      json.key("takes_ps").value(reached.busiest->takes.count());
    });
  });
}

/// Writes what goes on inside an mpmd_map.
void write_cores(JsonWriter& json, const CoreReport& of) {
  const CoreMap& map = *of.cores.map;
  json.object([&] {
    json.key("instances").value(of.cores.instances.size());
    json.key("flops").value(of.work.flops.count());
    json.key("bytes").value(of.work.bytes.count());
    json.key("launch_ps").value(of.times.whole.launch.count());
    json.key("cost_estimate");
    if (map.estimate)
      json.object([&] {
        json.key("flops").value(map.estimate->flops);
        json.key("transcendentals").value(map.estimate->transcendentals);
        json.key("bytes_accessed").value(map.estimate->bytes_accessed);
        json.key("remote_bytes_transferred").value(map.estimate->remote_bytes_transferred);
      });
    else
      json.value(nullptr);
    write_all(json, "spaces", of.spaces, [&](const SpaceUse& use) {
      json.object([&] {
        json.key("space").value(name(use.space));
        json.key("core");
        use.function ? json.value(map.functions[*use.function].mesh.name) : json.value(nullptr);
        json.key("peak_bytes").value(use.peak.count());
        json.key("size_bytes");
        use.size ? json.value(use.size->count()) : json.value(nullptr);
      });
    });
    write_all(json, "chain", critical_runs(of.times.walk), [&](size_t run) {
      const CoreRun& each = of.times.walk.runs[run];
      json.object([&] {
        json.key("core").value(of.cores.text(of.cores.instances[each.place.instance]));
        json.key("op").value(word(*of.cores.step(each.place).op));
        json.key("at").value(of.cores.path(each.place));
        json.key("begin_ps").value(each.begin.picoseconds());
        json.key("end_ps").value(each.end.picoseconds());
      });
    });
  });
}

/// Writes the times of one run of an op.
void write_run(JsonWriter& json, const Report& report, const OpReport& run) {
  json.key("start_ps").value(picoseconds(report, run.start.picoseconds()));
  json.key("entered_ps").value(picoseconds(report, run.entered.picoseconds()));
  json.key("end_ps").value(picoseconds(report, run.end.picoseconds()));
  json.key("exposed_ps").value(picoseconds(report, run.exposed.count()));
  json.key("hidden_ps").value(picoseconds(report, run.hidden.count()));
  json.key("slack_ps");
  run.slack ? json.value(run.slack->count()) : json.value(nullptr);
  json.key("algbw_GBps").value(run.algbw_GBps);
  json.key("busbw_GBps").value(run.busbw_GBps);
  if (run.reached)
    write_reached(json.key("bound"), report, *run.reached);
}

void write_op(JsonWriter& json, const Report& report, const OpEntry& entry) {
  const Op& op = report.scenario->program.op(entry.first().op);
  const std::optional<Choice>& choice = entry.first().choice;
  json.object([&] {
    json.key("id").value(entry.id);
    json.key("op").value(op_name(op.kind, op.issue));
    json.key("type");
    op.results.empty() ? json.value(nullptr) : json.value(types_text(*report.scenario, op));
    json.key("algorithm");
    choice ? json.value(choice->algorithm) : json.value(nullptr);
    if (choice && !choice->protocol.empty())
      json.key("protocol").value(choice->protocol);
    json.key("because");
    choice ? json.value(choice->because) : json.value(nullptr);
    json.key("bytes").value(entry.first().bytes.count());
    json.key("messages").value(entry.messages);
    if (const CoreReport* const cores = report.cores_of(entry.first().op))
      write_cores(json.key("cores"), *cores);
    if (entry.loop.empty())
      return write_run(json, report, entry.first());
    json.key("start_ps").value(picoseconds(report, entry.first().start.picoseconds()));
    json.key("end_ps").value(picoseconds(report, entry.last().end.picoseconds()));
    json.key("iterations").value(entry.iterations);
    json.key("period_ps");
    entry.period ? json.value(entry.period->count()) : json.value(nullptr);
    json.key("first").object([&] { write_run(json, report, entry.first()); });
    json.key("last").object([&] { write_run(json, report, entry.last()); });
    if (entry.named.empty())
      return;
    write_all(json, "named", entry.named, [&](const OpReport* run) {
      json.object([&] {
        json.key("id").value(report.scenario->program.op(run->op).name);
        write_run(json, report, *run);
      });
    });
  });
}

/// Writes a reshard, and the ops that it is made of.
void write_reshard(JsonWriter& json, const Report& report, const ReshardReport& of,
                   std::span<const OpEntry> parts) {
  const Reshard& reshard = report.scenario->program.reshards[of.reshard];
  json.object([&] {
    json.key("id").value(reshard.name());
    json.key("op").value(op_name(reshard.to));
    json.key("bytes").value(of.bytes.count());
    json.key("start_ps").value(picoseconds(report, of.start.picoseconds()));
    json.key("end_ps").value(picoseconds(report, of.end.picoseconds()));
    json.key("threshold_bytes");
    reshard.threshold ? json.value(reshard.threshold->count()) : json.value(nullptr);
    json.key("threshold_counts").value(reshard.counts_targets ? "target" : "source");
    write_all(json, "transfers", reshard.transfers, [&](const std::vector<size_t>& group) {
      json.array([&] {
        for (const size_t array : group)
          json.value(reshard.arrays[array].to);
      });
    });
    write_all(json, "target_bytes", of.targets, [&](Bytes bytes) { json.value(bytes.count()); });
    write_all(json, "scratch_bytes", of.scratch, [&](Bytes bytes) { json.value(bytes.count()); });
    json.key("peak_bytes").value(of.peak.count());
    write_all(json, "ops", parts, [&](const OpEntry& entry) { write_op(json, report, entry); });
  });
}

/// Writes the ops. Those of a reshard are under it.
void write_ops(JsonWriter& json, const Report& report) {
  const std::vector<OpEntry> entries = op_entries(report);
  json.array([&] {
    for (size_t begin = 0; begin < entries.size();) {
      const auto reshard = reshard_of(entries[begin], report);
      if (!reshard) {
        write_op(json, report, entries[begin++]);
        continue;
      }
      size_t end = begin;
      while (end < entries.size() && reshard_of(entries[end], report) == reshard)
        ++end;
      write_reshard(json, report, report.reshards[*reshard],
                    std::span(entries).subspan(begin, end - begin));
      begin = end;
    }
  });
}

void write_streams(JsonWriter& json, const DeviceTimes& times) {
  json.array([&] {
    for (const StreamTime& each : times.streams)
      json.object([&] {
        json.key("stream").value(each.stream.index());
        json.key("busy_ps").value(each.busy.count());
      });
  });
}

/// Writes devices as numbers and switches as names, as in the scenario's `links`.
void write_vertex(JsonWriter& json, const Fabric& fabric, VertexId id) {
  if (id.index() < fabric.devices())
    json.value(id.index());
  else
    json.value(fabric.switch_name(id));
}

void write_link(JsonWriter& json, const Report& report, const LinkReport& entry) {
  const Fabric& fabric = report.fabric();
  const Link link = fabric.link(entry.link);
  json.object([&] {
    json.key("link").value(fabric.link_text(entry.link));
    write_vertex(json.key("from"), fabric, link.from);
    write_vertex(json.key("to"), fabric, link.to);
    json.key("bytes").value(entry.bytes.count());
    json.key("utilization").value(utilization(report, entry));
  });
}

void write_device(JsonWriter& json, const Report& report, const DeviceReport& entry) {
  const DeviceMemory& memory = report.memory.of(entry.device);
  json.object([&] {
    json.key("id").value(entry.device.index());
    json.key("peak_bytes").value(memory.peak.count());
    json.key("peak_at");
    memory.peak_at ? json.value(report.scenario->program.op(*memory.peak_at).name)
                   : json.value(nullptr);
    json.key("arena_bytes").value(memory.arena.count());
    json.key("reserved_bytes").value(memory.reserved.count());
    json.key("transport_bytes").value(memory.transport.count());
    if (!memory.connections.empty())
      json.key("connections").array([&] {
        for (const ConnectionBuffers& buffers : memory.connections)
          json.object([&] {
            json.key("kind").value(key_of(buffers.kind));
            json.key("channels").value(buffers.channels);
            json.key("incoming").value(buffers.incoming);
            json.key("receiver_bytes").value(buffers.receiver.count());
            json.key("outgoing").value(buffers.outgoing);
            json.key("sender_bytes").value(buffers.sender.count());
          });
      });
    json.key("capacity_bytes");
    entry.capacity ? json.value(entry.capacity->count()) : json.value(nullptr);
    json.key("live_at_peak").array([&] {
      for (const Held& held : memory.live_at_peak)
        json.object([&] {
          json.key("value").value(held.value);
          json.key("bytes").value(held.size.count());
          json.key("kind").value(name(held.kind));
        });
    });
    json.key("computing_ps").value(picoseconds(report, entry.times.computing.count()));
    json.key("exposed_ps").value(picoseconds(report, entry.times.exposed.count()));
    if (entry.threads.size() > 1)
      json.key("programs").array([&] {
        for (const ThreadId thread : entry.threads)
          json.object([&] {
            const ListMemory& list = report.memory.of(entry.device, thread);
            json.key("name").value(report.scenario->program.thread(thread).name);
            json.key("peak_bytes").value((list.peak + memory.reserved).count());
            json.key("peak_at");
            list.peak_at ? json.value(report.scenario->program.op(*list.peak_at).name)
                         : json.value(nullptr);
          });
      });
    json.key("streams");
    report.completion ? write_streams(json, entry.times) : json.value(nullptr);
  });
}

/// Writes a witness. A key that occurs several times gets the list of its texts.
void write_witness(JsonWriter& json,
                   const std::vector<std::pair<std::string, std::string>>& witness) {
  const auto same = [](const std::string& key) {
    return [&key](const auto& entry) { return entry.first == key; };
  };
  json.object([&] {
    for (auto entry = witness.begin(); entry != witness.end(); ++entry) {
      const auto& [key, text] = *entry;
      if (std::any_of(witness.begin(), entry, same(key)))
        continue;  // it is in the list of its first occurrence
      json.key(key);
      if (std::none_of(entry + 1, witness.end(), same(key))) {
        json.value(text);
        continue;
      }
      json.array([&, &name = key] {
        for (auto each = entry; each != witness.end(); ++each)
          if (each->first == name)
            json.value(each->second);
      });
    }
  });
}

void write_check(JsonWriter& json, const Check& check) {
  json.object([&] {
    json.key("name").value(check.name);
    json.key("holds").value(check.holds());
    json.key("verdict").value(name(check.verdict));
    json.key("of").value(check.of);
    json.key("message").value(check.said());
    write_witness(json.key("witness"), check.witness);
  });
}

void write_element(JsonWriter& json, const Tensor& tensor, int64_t index, Encoding encoding) {
  if (encoding == Encoding::Bits)
    return json.value(element_bits(tensor, index));
  if (tensor.dtype() == Dtype::Pred)
    return json.value(element_bits(tensor, index) != 0);
  if (is_integer(tensor.dtype()) && !is_signed(tensor.dtype()))
    return json.value(element_bits(tensor, index));  // up to 2^64 - 1
  if (is_integer(tensor.dtype()))
    return json.value(element_as_int64(tensor, index));
  const double value =
      element_as_double(tensor, index);  // this is exact, as every other dtype fits f64
  std::isfinite(value) ? json.value(value) : json.value(element_text(tensor, index));
}

/// Writes all elements in row-major order. A complex one is a list of its two parts.
void write_elements(JsonWriter& json, const Tensor& tensor, Encoding encoding) {
  json.array([&] {
    if (is_complex(tensor.dtype())) {
      const Tensor both = parts(tensor);
      for (int64_t i = 0; i < both.elements(); i += 2)
        json.array([&] {
          write_element(json, both, i, encoding);
          write_element(json, both, i + 1, encoding);
        });
    } else {
      for (int64_t i = 0; i < tensor.elements(); ++i)
        write_element(json, tensor, i, encoding);
    }
  });
}

void write_shape(JsonWriter& json, const Shape& shape) {
  json.array([&] {
    for (const int64_t extent : shape.dims())
      json.value(extent);
  });
}

/// Writes the array that the devices' parts make. It has their dtype, or s32 if preds are summed.
void write_whole(JsonWriter& json, const Report& report, const Boundary& boundary,
                 Encoding encoding) {
  const std::optional<Tensor> whole =
      report.values ? assembled(*report.scenario, boundary, *report.values) : std::nullopt;
  if (!whole)
    return json.value(nullptr);
  json.object([&] {
    json.key("dtype").value(name(whole->dtype()));
    write_shape(json.key("shape"), whole->shape());
    write_elements(json.key("elements"), *whole, encoding);
  });
}

void write_value(JsonWriter& json, const Report& report, const NamedValue& named,
                 Encoding encoding) {
  const Program& program = report.scenario->program;
  const ValueId id = named.value;
  const Value& value = program.value(id);
  json.object([&] {
    if (named.name != value.name)
      json.key("id").value(value.name);
    json.key("dtype").value(name(value.type.dtype));
    write_shape(json.key("shape"), value.type.shape);
    if (encoding == Encoding::Bits)
      json.key("encoding").value("bits");
    json.key("per_device").array([&] {
      for (uint32_t d = 0; d < program.mesh.devices(); ++d) {
        if (!report.values || !report.values->at(id, LogicalId(d))) {
          json.value(nullptr);
          continue;
        }
        const Tensor& tensor = *report.values->at(id, LogicalId(d));
        write_elements(json, tensor, encoding);
      }
    });
    for (const Boundary& boundary : report.scenario->boundaries)
      if (boundary.value == id)
        write_whole(json.key("global"), report, boundary, encoding);
  });
}

void write_name(JsonWriter& json, const Program& program, const std::optional<OpId>& op) {
  op ? json.value(program.op(*op).name) : json.value(nullptr);
}

void write_reason(JsonWriter& json, const Report& report, const Reason& reason) {
  static constexpr std::array<const char*, 6> kWhat = {"compute", "enter",  "reduce",
                                                       "send",    "flight", "copy"};
  static constexpr std::array<const char*, 12> kBecause = {
      "beginning",  "computed",    "ended",      "stream_free", "launch",    "entry",
      "peer_entry", "step_before", "other_step", "message",     "slot_free", "sent"};
  const Program& program = report.scenario->program;
  json.object([&] {
    json.key("what").value(kWhat[static_cast<size_t>(reason.what)]);
    json.key("op").value(program.op(reason.op).name);
    write_vertex(json.key("device"), report.fabric(), reason.place);
    json.key("to");
    if (reason.to)
      write_vertex(json, report.fabric(), *reason.to);
    else
      json.value(nullptr);
    json.key("bytes").value(reason.bytes.count());
    json.key("begin_ps").value(reason.begin.picoseconds());
    json.key("end_ps").value(reason.end.picoseconds());
    json.key("because").value(kBecause[static_cast<size_t>(reason.because)]);
    write_name(json.key("after"), program, reason.after);
    json.key("text").value(sentence(report, reason));
  });
}

void write_life(JsonWriter& json, const Report& report, const ValueLife& life) {
  static constexpr std::array<const char*, 7> kUntil = {
      "argument", "output", "in_flight", "donation", "last_use", "taken_over", "never_used"};
  const Program& program = report.scenario->program;
  json.object([&] {
    json.key("thread").value(program.thread(life.thread).name);
    json.key("bytes").value(life.size.count());
    write_name(json.key("from"), program, life.from);
    write_name(json.key("to"), program, life.to);
    json.key("because").value(kUntil[static_cast<size_t>(life.until)]);
    json.key("together").array([&] {
      for (const std::string& name : names_together(program, life))
        json.value(name);
    });
    json.key("text").value(sentence(report, life, Style()));
  });
}

void write_explanation(JsonWriter& json, const Report& report, const Explanation& explanation) {
  json.object([&] {
    json.key("id").value(explanation.id);
    json.key("device");
    explanation.op&& report.completion ? json.value(explanation.device.index())
                                       : json.value(nullptr);
    const ShownLinks shown = shown_links(explanation.chain, kLinksInJson);
    json.key("chain").array([&] {
      for (size_t l = 0; l < explanation.chain.size(); ++l)
        if (l < shown.at_begin || l >= shown.at_begin + shown.left_out)
          write_reason(json, report, explanation.chain[l]);
    });
    json.key("left_out").value(shown.left_out);
    json.key("value").array([&] {
      for (const ValueLife& life : explanation.lives)
        write_life(json, report, life);
    });
  });
}

}  // namespace

std::string json_text(const Report& report, const JsonOptions& options) {
  // A text without room is copied each time that it grows. The row of a collective and the proof of
  // its schedule take about 1,100 bytes, the row of a local op 450.
  std::string text;
  const auto collectives = static_cast<size_t>(
      std::ranges::count_if(report.ops, [](const OpReport& op) { return op.choice.has_value(); }));
  text.reserve(4096 + report.ops.size() * 512 + collectives * 768);
  JsonWriter json(text);
  const auto string = [&](const std::string& each) { json.value(each); };
  json.object([&] {
    json.key("report").value(1);
    json.key("scenario").value(report.scenario->name);
    json.key("holds").value(report.holds());
    json.key("verdict").value(name(report.verdict));
    json.key("fingerprint").value(report.fingerprint);
    if (report.digest)
      json.key("digest").value(digest_text(*report.digest));
    write_all(json, "faults", report.faults, string);
    write_all(json, "labels", report.labels, string);
    write_time(json.key("time"), report);
    write_ops(json.key("ops"), report);
    write_all(json, "devices", report.devices,
              [&](const DeviceReport& entry) { write_device(json, report, entry); });
    write_all(json, "links", report.links,
              [&](const LinkReport& entry) { write_link(json, report, entry); });
    if (report.gpus)
      write_gpus(json.key("gpus"), report);
    write_all(json, "checks", report.checks, [&](const Check& entry) { write_check(json, entry); });
    if (options.explanation != nullptr)
      write_explanation(json.key("explanation"),
                        options.explained != nullptr ? *options.explained : report,
                        *options.explanation);
    json.key("values").object([&] {
      for (const NamedValue& named : options.values)
        write_value(json.key(named.name), named.in != nullptr ? *named.in : report, named,
                    options.encoding);
    });
  });
  text += '\n';
  return text;
}

std::string json_text(const std::string& file, const InputError& error) {
  std::string text;
  JsonWriter json(text);
  json.object([&] {
    json.key("report").value(1);
    json.key("file").value(file);
    json.key("holds").value(false);
    write_all(json, "errors", error.diagnostics(), [&](const Diagnostic& diagnostic) {
      const auto& at = diagnostic.origin.at;
      json.object([&] {
        json.key("pointer").value(diagnostic.origin.pointer);
        json.key("line");
        at ? json.value(at->line) : json.value(nullptr);
        json.key("column");
        at ? json.value(at->column) : json.value(nullptr);
        json.key("message").value(diagnostic.message);
      });
    });
  });
  text += '\n';
  return text;
}

std::string json_list(const std::vector<std::string>& reports, Verdict verdict) {
  std::string text = "{\"reports\": [\n";
  for (size_t r = 0; r < reports.size(); ++r) {
    text.append(reports[r], 0, reports[r].size() - 1);  // without its newline
    text += r + 1 < reports.size() ? ",\n" : "\n";
  }
  return text + fmt::format("], \"holds\": {}, \"verdict\": \"{}\"}}\n", verdict == Verdict::Holds,
                            name(verdict));
}

}  // namespace orrery
