#include "models/scenario/program_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/scenario/fields.h"
#include "models/scenario/op_reader.h"
#include "models/scenario/placement.h"
#include "models/scenario/size_limits.h"

namespace orrery {

namespace {

constexpr std::string_view kAxesKey = "axis_name";
constexpr std::string_view kGroupsKey = "axis_index_groups";

/// Returns whether a number stands in place of an operand. Adds an error for each number.
bool has_number(DocumentNode operands, Diagnostics& diagnostics) {
  const auto check = [&](DocumentNode node, std::string_view what) {
    const bool number = node.kind() == DocumentNode::Kind::Number;
    if (number)
      diagnostics.add(node.origin(),
                      fmt::format("expected {}, got {}; make a scalar of it with \"full\" (of "
                                  "shape [])",
                                  what, got(node)));
    return number;
  };
  if (operands.kind() != DocumentNode::Kind::List)
    return check(operands, "an id or a list of them");
  bool any = false;
  for (const DocumentNode item : operands)
    any = check(item, "an id") || any;
  return any;
}

std::optional<OpName> read_op_name(DocumentNode node, Diagnostics& diagnostics) {
  const std::optional<std::string> word = read_text(node, "an op such as \"psum\"", diagnostics);
  if (!word)
    return std::nullopt;
  const std::optional<OpName> op = op_named(*word);
  if (op)
    return op;
  if (const std::string answer = op_of_other_name(*word); !answer.empty()) {
    diagnostics.add(node.origin(), fmt::format("unknown op {}; {}", in_quotes(*word), answer));
    return std::nullopt;
  }
  std::vector<std::string> names = {std::string(kLoopOp), std::string(kGroupOp),
                                    std::string(kToGroupsOp), std::string(kToMeshOp)};
  for (const OpRules& rules : all_rules()) {
    names.emplace_back(rules.name);
    if (rules.family == Family::Collective)
      names.push_back(op_name(rules.kind, Issue::Start));
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  diagnostics.add(node.origin(), fmt::format("unknown op {}{}", in_quotes(*word),
                                             did_you_mean(*word, candidates)));
  return std::nullopt;
}

}  // namespace

void note_keys(DocumentNode node, const std::string& path,
               std::map<std::string, Origin, std::less<>>& origins) {
  size_t item = 0;
  if (node.kind() != DocumentNode::Kind::List && node.kind() != DocumentNode::Kind::Object)
    return;
  for (const DocumentNode part : node) {
    const std::string own =
        path + (node.kind() == DocumentNode::Kind::List ? std::to_string(item++) : part.key());
    origins.emplace(own, part.origin());
    note_keys(part, own + '/', origins);
  }
}

std::string default_program_name(size_t number) {
  return fmt::format("program {}", number);
}

std::string size_error(const Limits& limits, const Mesh& mesh, const WrittenSize& size) {
  if (size.ops > limits.ops)
    return beyond(limits, &Limits::ops, size.ops);
  if (size.device_ops > limits.device_ops)
    return beyond(limits, &Limits::device_ops,
                  fmt::format("{} on {} devices", size.device_ops, mesh.devices()));
  return "";
}

/// Returns whether so many more ops and threads, not read yet, are within the limits.
bool ProgramReader::fits(DocumentNode node, size_t ops, size_t threads) {
  size_.ops += static_cast<int64_t>(ops);
  // A file has fewer than 2^32 values, and a mesh at most 2^30 devices.
  size_.device_ops += static_cast<int64_t>(ops + threads) * devices_;
  std::string over = size_error(limits_, mesh_, size_);
  if (over.empty())
    return true;
  complete_ = false;
  diagnostics_.add(node.origin(), std::move(over));
  return false;
}

void ProgramReader::read_program(DocumentNode list) {
  devices_ = mesh_.devices();
  if (!is_list(list, "a list of ops", diagnostics_) || !fits(list, list.size(), 0))
    return;
  builder_.thread(std::string(kOnlyProgram), all_devices(mesh_), list.origin());
  builder_.expect(list.size());
  Scope scope;
  read_ops(list, scope);
}

void ProgramReader::read_more(DocumentNode list) {
  devices_ = mesh_.devices();
  size_.ops = static_cast<int64_t>(builder_.size().ops);
  size_.device_ops = size_.ops * devices_;
  if (!is_list(list, "a list of ops", diagnostics_) || !fits(list, list.size(), 0))
    return;
  Scope scope;
  read_ops(list, scope);
}

void ProgramReader::read_programs(DocumentNode list) {
  if (!is_list(list, "a list of programs", diagnostics_))
    return;
  size_t number = 0;
  for (const DocumentNode node : list) {
    const std::string default_name = default_program_name(number++);
    if (!is_object(node, "a program such as {\"on\": {\"stage\": 0}, \"do\": [...]}",
                   diagnostics_)) {
      complete_ = false;
      continue;
    }
    Fields fields(node, diagnostics_);
    std::optional<std::string> name = default_name;
    if (const auto given = fields.optional("name"))
      name = read_text(*given, "a name", diagnostics_);
    const std::optional<DocumentNode> on = fields.required("on");
    const std::optional<DocumentNode> ops = fields.required("do");
    fields.finish();
    std::optional<std::vector<LogicalId>> devices;
    if (on && ops && name && is_list(*ops, "a list of ops", diagnostics_))
      devices = read_devices(*on, mesh_, diagnostics_);
    devices_ = devices ? static_cast<int64_t>(devices->size()) : 0;
    if (!devices) {
      complete_ = false;
      continue;
    }
    if (!fits(node, ops->size(), 1))
      return;
    builder_.thread(std::move(*name), std::move(*devices), on->origin());
    Scope scope;
    read_ops(*ops, scope);
  }
}

void ProgramReader::read_ops(DocumentNode list, Scope& scope) {
  for (const DocumentNode node : list) {
    if (!is_object(node, "an op such as {\"id\": \"y\", \"op\": \"psum\", \"of\": \"x\"}",
                   diagnostics_)) {
      complete_ = false;
      continue;
    }
    const std::optional<DocumentNode> op = node.find("op");
    const std::string_view name =
        op && op->kind() == DocumentNode::Kind::Text ? op->text() : std::string_view();
    if (name == kLoopOp)
      read_loop(node, scope);
    else if (name == kGroupOp)
      read_group(node, scope);
    else if (name == kToGroupsOp || name == kToMeshOp)
      read_reshard(node, scope);
    else
      read_op(node, scope);
  }
}

/// Reads an id. The result is "" if an error was added.
std::string ProgramReader::read_id(DocumentNode node, const Scope& scope) {
  const std::optional<std::string> id = read_text(node, "an id", diagnostics_);
  if (!id)
    return "";
  const auto size = static_cast<int64_t>(scope.prefix.size() + id->size());
  if (id->empty())
    diagnostics_.add(node.origin(), "expected an id that is not empty");
  else if (size > limits_.text)
    diagnostics_.add(node.origin(), beyond(limits_, &Limits::text, size));
  else
    return *id;
  return "";
}

/// Reads the id of an op, or a list with one per result, whose origins it adds to `request`.
std::vector<std::string> ProgramReader::read_ids(DocumentNode node, const Scope& scope,
                                                 OpRequest& request) {
  if (node.kind() != DocumentNode::Kind::List)
    return {read_id(node, scope)};
  std::vector<std::string> ids;
  for (const DocumentNode item : node) {
    request.key_origins.emplace(fmt::format("id/{}", ids.size()), item.origin());
    ids.push_back(read_id(item, scope));
  }
  if (!ids.empty())
    return ids;
  diagnostics_.add(node.origin(), "expected an id, or an id for each result, got []");
  return {""};
}

/// Makes `name` mean `full` from here to the end of the scope.
void ProgramReader::define(Scope& scope, const std::string& name, const std::string& full,
                           const Origin& at) {
  if (scope.outside == nullptr)  // at the top each name is its own full name
    return;
  const auto [known, added] = scope.names.emplace(name, full);
  if (!added && (known->second != full || builder_.is_carried(full)))
    diagnostics_.add(
        at, fmt::format("expected an unused id, got {}, which the loop carries", in_quotes(name)));
}

/// Returns the full name that `name` means in the nearest scope that has it. An op that comes later
/// in the body is an error, and the result is empty.
std::optional<std::string> ProgramReader::resolved(const std::string& name, const Origin& at,
                                                   const Scope& scope) {
  for (const Scope* s = &scope; s->outside != nullptr; s = s->outside) {
    const auto found = s->names.find(name);
    if (found != s->names.end())
      return found->second;
    if (s->ids->find(name) != s->ids->end()) {
      diagnostics_.add(at,
                       fmt::format("expected the id of an array or of an earlier op, got {}, which "
                                   "the loop's body defines later",
                                   in_quotes(name)));
      return std::nullopt;
    }
  }
  return name;
}

std::vector<std::string> ProgramReader::resolved(const std::vector<std::string>& names,
                                                 const Origin& at, const Scope& scope) {
  std::vector<std::string> all;
  for (const std::string& name : names)
    if (auto full = resolved(name, at, scope))
      all.push_back(std::move(*full));
  return all;
}

void ProgramReader::read_op(DocumentNode node, Scope& scope, std::vector<OpRequest>* parts) {
  const size_t before = diagnostics_.size();
  Fields fields(node, diagnostics_);
  OpRequest request;
  request.origin = node.origin();
  const auto take = [&](std::string_view key) {
    const std::optional<DocumentNode> value = fields.optional(key);
    if (value)
      request.key_origins.emplace(key, value->origin());
    return value;
  };
  std::vector<std::string> ids = {""};
  if (fields.required("id"))
    ids = read_ids(*take("id"), scope, request);
  request.name = scope.prefix + ids.front();
  for (size_t r = 1; r < ids.size(); ++r)
    request.other_results.push_back(scope.prefix + ids[r]);
  const auto define_all = [&] {
    for (size_t r = 0; r < ids.size(); ++r)
      define(scope, ids[r], request.result_name(r), request.result_origin(r));
  };
  const auto refuse = [&] {
    for (size_t r = 0; r < ids.size(); ++r)
      invalid_.insert(request.result_name(r));
    complete_ = false;
  };
  // Further results count as ops: each takes as much memory on every device.
  if (!fits(node, ids.size() - 1, 0)) {
    refuse();
    return;
  }
  std::optional<OpName> op;
  if (const auto name = fields.required("op"))
    op = read_op_name(*name, diagnostics_);
  if (!op) {
    define_all();
    refuse();
    return;
  }
  request.kind = op->kind;
  request.issue = op->issue;
  const OpRules& rules = orrery::rules(op->kind);
  if (rules.most_operands > 0) {
    const auto take_ids = [&](std::string_view key) {
      const auto list = take(key);
      if (!list || (rules.elementwise && has_number(*list, diagnostics_)))
        return std::vector<std::string>();
      const auto names = read_names(*list, "an id", diagnostics_);
      return names ? resolved(*names, list->origin(), scope) : std::vector<std::string>();
    };
    request.operands = take_ids("of");
    request.donated = take_ids("donate");
  }
  if (rules.family == Family::Collective) {
    if (const auto site = take("site")) {
      const auto name = read_text(*site, "a name", diagnostics_);
      request.site = name ? *name + scope.site_suffix : "";
    }
  }
  const std::string title = op_title(request.kind, request.issue, request.name);
  std::vector<int64_t> dimensions;  // among the axes of a collective
  for (const Parameter& parameter : rules.parameters) {
    const std::optional<DocumentNode> value = find_parameter(fields, parameter);
    if (value)
      request.key_origins.emplace(parameter.name, value->origin());
    if (parameter.kind == ParameterKind::Functions)
      note_keys(node, "", request.key_origins);
    if (value && rules.family == Family::Collective && parameter.name == kAxesKey &&
        may_have_dimensions(*value, op->kind)) {
      (void)fields.optional(kAxesKey);
      if (std::optional<Axes> axes = read_axes(*value, op->kind, title, diagnostics_)) {
        request.attributes.set(std::string(kAxesKey), std::move(axes->names));
        dimensions = std::move(axes->dimensions);
      }
    } else if (auto read = read_parameter(fields, parameter, diagnostics_))
      request.attributes.set(std::string(parameter.name), std::move(*read));
  }
  fields.finish();
  define_all();
  if (!dimensions.empty() && request.attributes.has(kGroupsKey))
    diagnostics_.add(request.key_origin(kGroupsKey),
                     fmt::format("{}: expected no axis_index_groups where dimensions are among the "
                                 "axes",
                                 title));
  const bool reads_invalid = std::any_of(request.operands.begin(), request.operands.end(),
                                         [&](const std::string& name) { return is_invalid(name); });
  if (diagnostics_.size() != before || reads_invalid ||
      (!dimensions.empty() && !fits(node, 2, 0))) {
    refuse();
    return;
  }
  if (!dimensions.empty() && request.operands.size() == 1) {
    const auto type = builder_.type_of(request.operands.front(), request.key_origin("of"));
    for (OpRequest& first :
         reduced_first(request, type ? type->dtype : Dtype::F32, std::move(dimensions)))
      builder_.op(std::move(first));
  }
  if (request.kind == OpKind::LogicallyStacked && !know_stacked(request)) {
    refuse();
    return;
  }
  if (parts != nullptr)
    parts->push_back(std::move(request));
  else
    builder_.op(std::move(request));
}

namespace {

/// Returns whether the op may be a part of a group. Adds an error otherwise.
bool is_part_of_group(DocumentNode node, Diagnostics& diagnostics) {
  if (!is_object(node, "a psend or a precv", diagnostics))
    return false;
  const std::optional<DocumentNode> op = node.find("op");
  const bool transfer =
      op && op->kind() == DocumentNode::Kind::Text &&
      (op->text() == rules(OpKind::Psend).name || op->text() == rules(OpKind::Precv).name);
  if (!transfer)
    diagnostics.add((op ? *op : node).origin(),
                    fmt::format("expected \"psend\" or \"precv\" in a group, got {}",
                                op ? got(*op) : "no \"op\""));
  const std::optional<DocumentNode> stream = node.find(kStreamKey);
  if (stream)
    diagnostics.add(stream->origin(),
                    "expected no stream in a group, where each message has one "
                    "of its own");
  return transfer && !stream;
}

}  // namespace

void ProgramReader::read_group(DocumentNode node, Scope& scope) {
  Fields fields(node, diagnostics_);
  const std::optional<DocumentNode> id = fields.required("id");
  (void)fields.required("op");
  const std::optional<DocumentNode> list = fields.required("do");
  fields.finish();
  const std::string name = id ? scope.prefix + read_id(*id, scope) : "";
  if (list && list->kind() == DocumentNode::Kind::List && list->size() == 0)
    diagnostics_.add(list->origin(), "expected at least one psend or precv, got []");
  std::vector<OpRequest> parts;
  size_t read = 0;
  if (list && is_list(*list, "a list of psends and precvs", diagnostics_) &&
      fits(node, 2 * list->size(), 0))
    for (const DocumentNode part : *list) {
      ++read;
      if (is_part_of_group(part, diagnostics_))
        read_op(part, scope, &parts);
    }
  if (id && list && read > 0 && parts.size() == read)
    return builder_.group(name, id->origin(), std::move(parts));
  complete_ = false;
  for (const OpRequest& part : parts)
    invalid_.insert(part.name);
}

}  // namespace orrery
