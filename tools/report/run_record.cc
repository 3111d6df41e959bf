#include "tools/report/run_record.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "models/scenario/fields.h"
#include "models/scenario/literal.h"
#include "models/scenario/quantity_text.h"
#include "models/scenario/size_limits.h"
#include "tools/report/figures.h"
#include "tools/report/op_entries.h"
#include "verifier/report.h"

namespace orrery {
namespace {

std::vector<RecordedSetting> settings_of(const MemoryPolicy& memory) {
  const std::string absent = "not given";
  const std::optional<ProtocolFigures>& transport = memory.transport;
  const std::string counted = memory.counts_transport ? "the cluster's" : absent;
  return {
      {"memory.reuse", memory.reuse == MemoryPolicy::Reuse::Xla ? "xla" : "none"},
      {"memory.alignment", quantity_text(memory.alignment)},
      {"memory.reserved", quantity_text(memory.reserved)},
      {"memory.transport.channels", memory.channels ? std::to_string(*memory.channels) : absent},
      {"memory.transport.protocol", transport ? transport->name : counted},
      {"memory.transport.slot", transport ? quantity_text(*transport->slot) : counted}};
}

/// Returns the record of an op. For an op in a loop it is from the beginning of the first run to
/// the end of the last.
/// Returns the name of a space that the device has, or each core of a mesh.
std::string space_text(std::string_view space, const std::optional<std::string>& mesh) {
  return mesh ? fmt::format("{} of a core of \"{}\"", space, *mesh) : std::string(space);
}

RecordedOp op_of(const Report& report, const OpEntry& entry) {
  const Program& program = report.scenario->program;
  const Op& op = program.op(entry.first().op);
  RecordedOp recorded{entry.id,
                      op_name(op.kind, op.issue),
                      std::nullopt,
                      entry.first().bytes,
                      entry.messages,
                      std::nullopt,
                      {},
                      {}};
  if (const CoreReport* const cores = report.cores_of(entry.first().op))
    for (const SpaceUse& use : cores->spaces) {
      std::optional<std::string> mesh;
      if (use.function)
        mesh = cores->cores.map->functions[*use.function].mesh.name;
      recorded.spaces.emplace(space_text(name(use.space), mesh), use.peak);
    }
  if (entry.first().choice)
    recorded.algorithm = entry.first().choice->method();
  if (!report.completion)
    return recorded;
  recorded.span = RecordedSpan{entry.first().start, entry.last().end};
  const std::vector<LogicalId>& devices = program.thread(entry.thread).devices;
  const std::span<const OpSpan> first = report.completion->spans[entry.first().op.index()];
  const std::span<const OpSpan> last = report.completion->spans[entry.last().op.index()];
  for (size_t d = 0; d < devices.size(); ++d)
    recorded.by_device.emplace_back(devices[d], RecordedSpan{first[d].start, last[d].end});
  return recorded;
}

std::vector<std::optional<Tensor>> take_value(DeviceValues& values, ValueId id, uint32_t devices) {
  std::vector<std::optional<Tensor>> tensors;
  for (uint32_t d = 0; d < devices; ++d)
    tensors.push_back(values.take(id, LogicalId(d)));
  return tensors;
}

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

class SavedReportReader {
 public:
  SavedReportReader(DocumentNode root, Diagnostics& diagnostics)
      : root_(root), diagnostics_(diagnostics) {}

  RunRecord read() {
    Fields fields(root_, diagnostics_);
    if (const auto version = fields.required("report"))
      if (version->kind() != DocumentNode::Kind::Number || version->number() != "1")
        expected(*version, "version 1 of the report", diagnostics_);
    RunRecord record;
    record.file = diagnostics_.file();
    record.verdict = verdict(fields);
    record.fingerprint = text(fields, "fingerprint", "a fingerprint").value_or("");
    if (const auto node = fields.optional("faults"))
      record.faults =
          read_names(*node, "a sentence", diagnostics_).value_or(std::vector<std::string>());
    if (const auto node = fields.required("time"); node && !is_null(*node))
      record.makespan = read_makespan(*node);
    each(fields, "ops", "an op, an object", [&](DocumentNode node) { read_ops(node, record); });
    each(fields, "devices", "a device, an object",
         [&](DocumentNode node) { record.devices.push_back(read_device(node)); });
    each(fields, "checks", "a check, an object",
         [&](DocumentNode node) { record.checks.push_back(read_check(node)); });
    if (const auto node = fields.optional("values");
        node && is_object(*node, "an object with an entry for each value", diagnostics_))
      for (const DocumentNode member : *node)
        if (is_object(member, "a value, an object", diagnostics_))
          if (auto value = read_value(member))
            add_value(record, std::move(*value));
    diagnostics_.throw_if_any();
    return record;
  }

 private:
  static bool is_null(DocumentNode node) { return node.kind() == DocumentNode::Kind::Null; }

  template <class Read>
  void each(Fields& fields, std::string_view key, std::string_view what, Read read) {
    const auto list = fields.required(key);
    if (!list || !is_list(*list, "a list", diagnostics_))
      return;
    for (const DocumentNode node : *list)
      if (is_object(node, what, diagnostics_))
        read(node);
  }

  std::optional<std::string> text(Fields& fields, std::string_view key, std::string_view what) {
    const auto node = fields.required(key);
    return node ? read_text(*node, what, diagnostics_) : std::nullopt;
  }

  std::optional<std::string> text_or_null(Fields& fields, std::string_view key,
                                          std::string_view what) {
    const auto node = fields.required(key);
    return node && !is_null(*node) ? read_text(*node, what, diagnostics_) : std::nullopt;
  }

  /// Reads a verdict. Older reports say only whether something holds.
  Verdict verdict(Fields& fields) {
    const auto holds = fields.required("holds");
    const bool fails = holds && !read_boolean(*holds, diagnostics_).value_or(true);
    const auto node = fields.optional("verdict");
    if (!node)
      return fails ? Verdict::Fails : Verdict::Holds;
    const auto word = read_text(*node, "a verdict", diagnostics_);
    for (const Verdict verdict : {Verdict::Holds, Verdict::Undecided, Verdict::Fails})
      if (word == name(verdict))
        return verdict;
    if (word)
      expected(*node, "\"holds\", \"undecided\" or \"fails\"", diagnostics_);
    return Verdict::Holds;
  }

  /// Reads a count, which is not negative. The result is 0 after an error.
  int64_t count(Fields& fields, std::string_view key) {
    const auto node = fields.required(key);
    return node ? read_integer(*node, "a whole number", {0, kMost}, diagnostics_).value_or(0) : 0;
  }

  std::optional<Instant> read_makespan(DocumentNode node) {
    if (!is_object(node, "an object or null", diagnostics_))
      return std::nullopt;
    Fields fields(node, diagnostics_);
    return Instant(count(fields, "makespan_ps"));
  }

  /// Reads an op, or the ops of a reshard.
  void read_ops(DocumentNode node, RunRecord& record) {
    const auto parts = node.find("ops");
    if (!parts)
      return record.ops.push_back(read_op(node));
    if (is_list(*parts, "a list of ops", diagnostics_))
      for (const DocumentNode part : *parts)
        if (is_object(part, "an op, an object", diagnostics_))
          record.ops.push_back(read_op(part));
  }

  RecordedOp read_op(DocumentNode node) {
    Fields fields(node, diagnostics_);
    RecordedOp op;
    op.id = text(fields, "id", "an id").value_or("");
    op.op = text(fields, "op", "an op").value_or("");
    op.algorithm = text_or_null(fields, "algorithm", "an algorithm or null");
    if (const auto protocol = fields.optional("protocol"); protocol && op.algorithm)
      op.algorithm =
          Choice{*op.algorithm, "", read_text(*protocol, "a protocol", diagnostics_).value_or("")}
              .method();
    op.bytes = Bytes(count(fields, "bytes"));
    op.messages = static_cast<uint64_t>(count(fields, "messages"));
    if (const auto start = fields.required("start_ps"); start && !is_null(*start))
      op.span = RecordedSpan{Instant(count(fields, "start_ps")), Instant(count(fields, "end_ps"))};
    if (const auto cores = fields.optional("cores");
        cores && is_object(*cores, "what goes on inside an mpmd_map, an object", diagnostics_)) {
      Fields inside(*cores, diagnostics_);
      each(inside, "spaces", "a memory space, an object", [&](DocumentNode space) {
        Fields use(space, diagnostics_);
        const auto name = text(use, "space", "a memory space").value_or("");
        const auto mesh = text_or_null(use, "core", "the name of a mesh or null");
        op.spaces.emplace(space_text(name, mesh), Bytes(count(use, "peak_bytes")));
      });
    }
    return op;
  }

  RecordedDevice read_device(DocumentNode node) {
    Fields fields(node, diagnostics_);
    RecordedDevice device;
    if (const auto id = fields.required("id"))
      device.id = LogicalId(static_cast<size_t>(
          read_integer(*id, "a device", {0, std::numeric_limits<uint32_t>::max()}, diagnostics_)
              .value_or(0)));
    device.peak = Bytes(count(fields, "peak_bytes"));
    device.peak_at = text_or_null(fields, "peak_at", "an id or null");
    device.arena = Bytes(count(fields, "arena_bytes"));
    return device;
  }

  RecordedCheck read_check(DocumentNode node) {
    Fields fields(node, diagnostics_);
    RecordedCheck check;
    check.name = text(fields, "name", "a check").value_or("");
    check.of = text(fields, "of", "what was checked").value_or("");
    check.verdict = verdict(fields);
    check.message = text(fields, "message", "a sentence").value_or("");
    return check;
  }

  /// Adds a value, unless it is there already under another name. If someone has edited one of its
  /// entries, all are kept.
  static void add_value(RunRecord& record, RecordedValue value) {
    for (RecordedValue& known : record.values) {
      if (known.name != value.name || known.dtype != value.dtype || known.shape != value.shape ||
          known.per_device != value.per_device || known.whole != value.whole)
        continue;
      if (known.other_name.empty())
        known.other_name = std::move(value.other_name);
      return;
    }
    record.values.push_back(std::move(value));
  }

  std::optional<RecordedValue> read_value(DocumentNode member) {
    Fields fields(member, diagnostics_);
    std::optional<std::string> name = member.key();
    const auto own = fields.optional("id");
    if (own)
      name = read_text(*own, "an id", diagnostics_);
    const auto dtype_node = fields.required("dtype");
    const auto shape_node = fields.required("shape");
    const auto lists = fields.required("per_device");
    const std::optional<Encoding> encoding = read_encoding(fields, diagnostics_);
    if (!name || !dtype_node || !shape_node || !lists || !encoding)
      return std::nullopt;
    const std::optional<Dtype> dtype = read_dtype(*dtype_node, diagnostics_);
    const auto dims = read_integers(*shape_node, "an extent", {0, kMost}, diagnostics_);
    if (!dtype || !dims || !is_list(*lists, "one list of elements per device", diagnostics_))
      return std::nullopt;
    RecordedValue value{std::move(*name), *dtype, Shape(*dims), {}};
    value.other_name = own ? member.key() : "";
    for (const DocumentNode list : *lists) {
      value.per_device.emplace_back();
      if (!is_null(list))
        value.per_device.back() =
            read_tensor(list, {*dtype, value.shape, *encoding, 1}, diagnostics_);
    }
    if (const auto whole = fields.optional("global"); whole && !is_null(*whole))
      value.whole = read_whole(*whole, *encoding);
    return value;
  }

  std::optional<Tensor> read_whole(DocumentNode node, Encoding encoding) {
    if (!is_object(node, "an array, an object, or null", diagnostics_))
      return std::nullopt;
    Fields fields(node, diagnostics_);
    const auto dtype_node = fields.required("dtype");
    const auto shape_node = fields.required("shape");
    const auto elements = fields.required("elements");
    if (!dtype_node || !shape_node || !elements)
      return std::nullopt;
    const std::optional<Dtype> dtype = read_dtype(*dtype_node, diagnostics_);
    const auto dims = read_integers(*shape_node, "an extent", {0, kMost}, diagnostics_);
    if (!dtype || !dims)
      return std::nullopt;
    return read_tensor(*elements, {*dtype, Shape(*dims), encoding, 1}, diagnostics_);
  }

  DocumentNode root_;
  Diagnostics& diagnostics_;
};

}  // namespace

RunRecord record_of(Report report) {
  const Program& program = report.scenario->program;
  RunRecord record;
  record.file = report.scenario->file;
  record.verdict = report.verdict;
  record.fingerprint = std::move(report.fingerprint);
  record.faults = std::move(report.faults);
  record.settings = settings_of(report.scenario->memory);
  if (report.completion)
    record.makespan = report.completion->makespan;
  for (const OpEntry& entry : op_entries(report))
    record.ops.push_back(op_of(report, entry));
  for (const DeviceReport& device : report.devices) {
    const DeviceMemory& memory = report.memory.of(device.device);
    RecordedDevice& recorded = record.devices.emplace_back(
        RecordedDevice{device.device, memory.peak, std::nullopt, memory.arena});
    if (memory.peak_at)
      recorded.peak_at = program.op(*memory.peak_at).name;
  }
  for (Check& check : report.checks) {
    std::string said = check.said();
    record.checks.push_back(
        {std::move(check.name), std::move(check.of), check.verdict, std::move(said)});
  }
  std::map<ValueId, std::string> other_names;  // if there are several, the first
  for (const auto& [name, value] : program.other_names)
    other_names.emplace(value, name);
  for (size_t v = 0; report.values && v < program.values.size(); ++v) {
    const Value& value = program.values[v];
    RecordedValue recorded{value.name, value.type.dtype, value.type.shape, {}};
    if (const auto other = other_names.find(ValueId(v)); other != other_names.end())
      recorded.other_name = other->second;
    for (const Boundary& boundary : report.scenario->boundaries)
      if (boundary.value == ValueId(v))
        recorded.whole = assembled(*report.scenario, boundary, *report.values);
    recorded.per_device = take_value(*report.values, ValueId(v), program.mesh.devices());
    if (std::any_of(recorded.per_device.begin(), recorded.per_device.end(),
                    [](const auto& tensor) { return tensor.has_value(); }))
      record.values.push_back(std::move(recorded));
  }
  return record;
}

bool is_report(DocumentNode root) {
  return root.find("report") || root.find("reports");
}

RunRecord read_saved_report(DocumentNode root, Diagnostics& diagnostics) {
  if (const auto several = root.find("reports")) {
    diagnostics.add(
        several->key_origin(),
        "expected the report of one run, got a list of several (`run` of one file writes "
        "one)");
    diagnostics.throw_if_any();
  }
  if (const auto errors = root.find("errors")) {
    diagnostics.add(errors->key_origin(), "expected the report of a run, got why there was none");
    diagnostics.throw_if_any();
  }
  return SavedReportReader(root, diagnostics).read();
}

}  // namespace orrery
