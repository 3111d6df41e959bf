#include "models/scenario/program_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/scenario/bounds.h"
#include "models/scenario/fields.h"

namespace orrery {

namespace {

std::optional<OpName> read_op_name(DocumentNode node, Diagnostics& faults) {
  const std::optional<std::string> word = read_text(node, "an op such as \"psum\"", faults);
  if (!word)
    return std::nullopt;
  const std::optional<OpName> op = op_named(*word);
  if (op)
    return op;
  std::vector<std::string> names;
  for (const OpRules& rules : all_rules()) {
    names.emplace_back(rules.name);
    if (rules.family == Family::Collective)
      names.push_back(op_name(rules.kind, Issue::Start));
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  faults.add(node.origin(),
             fmt::format("unknown op {}{}", in_quotes(*word), suggestion(*word, candidates)));
  return std::nullopt;
}

}  // namespace

std::string default_program_name(size_t number) {
  return fmt::format("program {}", number);
}

bool ProgramReader::fits(DocumentNode node, size_t ops) {
  // Neither factor passes 2^24, so the product does not overflow.
  const size_t more = ops * mesh_.devices();
  if (places_ + more > static_cast<size_t>(kMostOpPlaces)) {
    faults_.add(node.origin(),
                fmt::format("expected at most {} ops over all devices, got more than {} on {} "
                            "devices",
                            kMostOpPlaces, kMostOpPlaces / mesh_.devices(), mesh_.devices()));
    complete_ = false;
    return false;
  }
  places_ += more;
  return true;
}

void ProgramReader::read_program(DocumentNode list) {
  if (!is_list(list, "a list of ops", faults_) || !fits(list, list.size()))
    return;
  std::vector<LogicalId> everyone;
  for (uint32_t i = 0; i < mesh_.devices(); ++i)
    everyone.emplace_back(i);
  builder_.thread(std::string(kOnlyProgram), std::move(everyone), list.origin());
  read_ops(list);
}

void ProgramReader::read_programs(DocumentNode list) {
  if (!is_list(list, "a list of programs", faults_))
    return;
  size_t number = 0;
  for (const DocumentNode node : list) {
    const std::string default_name = default_program_name(number++);
    if (!is_object(node, "a program such as {\"on\": {\"stage\": 0}, \"do\": [...]}", faults_)) {
      complete_ = false;
      continue;
    }
    Fields fields(node, faults_);
    std::optional<std::string> name = default_name;
    if (const auto given = fields.optional("name"))
      name = read_text(*given, "a name", faults_);
    const std::optional<DocumentNode> on = fields.required("on");
    const std::optional<DocumentNode> ops = fields.required("do");
    fields.finish();
    if (!on || !ops || !name || !is_list(*ops, "a list of ops", faults_) ||
        !fits(node, ops->size() + 1)) {
      complete_ = false;
      continue;
    }
    std::optional<std::vector<LogicalId>> devices = read_devices(*on);
    if (!devices) {
      complete_ = false;
      continue;
    }
    builder_.thread(std::move(*name), std::move(*devices), on->origin());
    read_ops(*ops);
  }
}

/// {"stage": 0, "x": [2, 4]}: the devices whose coordinates are these, an interval without its end;
/// or a list of logical ids.
std::optional<std::vector<LogicalId>> ProgramReader::read_devices(DocumentNode node) {
  const size_t before = faults_.size();
  std::vector<LogicalId> devices;
  if (node.kind() == DocumentNode::Kind::List) {
    std::set<int64_t> seen;
    for (const DocumentNode item : node) {
      const auto id = read_integer(item, "a device", {0, int64_t{mesh_.devices()} - 1}, faults_);
      if (!id)
        return std::nullopt;
      if (!seen.insert(*id).second) {
        faults_.add(item.origin(), fmt::format("device {} is named twice", *id));
        return std::nullopt;
      }
    }
    for (const int64_t id : seen)
      devices.emplace_back(static_cast<size_t>(id));
    return devices;
  }
  if (!is_object(node, "an object with a place or an interval per axis, or a list of devices",
                 faults_))
    return std::nullopt;
  struct Interval {
    int64_t begin, end;
  };
  std::vector<Interval> box;
  for (const Axis& axis : mesh_.axes())
    box.push_back({0, axis.size});
  Fields fields(node, faults_);
  for (size_t i = 0; i < box.size(); ++i) {
    const Axis& axis = mesh_.axes()[i];
    const std::optional<DocumentNode> place = fields.optional(axis.name);
    if (!place)
      continue;
    if (place->kind() == DocumentNode::Kind::List) {
      const auto ends = read_integers(*place, "a place", {0, axis.size}, faults_);
      if (ends && (ends->size() != 2 || (*ends)[0] >= (*ends)[1]))
        faults_.add(place->origin(), "expected an interval such as [0, 2], without its end");
      else if (ends)
        box[i] = {(*ends)[0], (*ends)[1]};
    } else if (const auto at = read_integer(*place, "a place", {0, axis.size - 1}, faults_)) {
      box[i] = {*at, *at + 1};
    }
  }
  fields.finish();
  if (faults_.size() != before)
    return std::nullopt;
  for (uint32_t id = 0; id < mesh_.devices(); ++id) {
    bool inside = true;
    for (size_t i = 0; inside && i < box.size(); ++i) {
      const int64_t at = mesh_.coordinate(LogicalId(id), i);
      inside = at >= box[i].begin && at < box[i].end;
    }
    if (inside)
      devices.emplace_back(id);
  }
  return devices;
}

void ProgramReader::read_ops(DocumentNode list) {
  for (const DocumentNode node : list) {
    if (is_object(node, "an op such as {\"id\": \"y\", \"op\": \"psum\", \"of\": \"x\"}", faults_))
      read_op(node);
    else
      complete_ = false;
  }
}

void ProgramReader::read_op(DocumentNode node) {
  const size_t before = faults_.size();
  Fields fields(node, faults_);
  OpRequest request;
  request.origin = node.origin();
  const auto take = [&](std::string_view key) {
    const std::optional<DocumentNode> value = fields.optional(key);
    if (value)
      request.places.emplace(key, value->origin());
    return value;
  };
  if (fields.required("id")) {
    request.name = read_text(*take("id"), "an id", faults_).value_or("");
    if (request.name.empty() && faults_.size() == before)
      faults_.add(take("id")->origin(), "expected an id that is not empty");
  }
  std::optional<OpName> op;
  if (const auto name = fields.required("op"))
    op = read_op_name(*name, faults_);
  if (!op) {
    faulty_.insert(request.name);
    complete_ = false;
    return;
  }
  request.kind = op->kind;
  request.issue = op->issue;
  const OpRules& rules = orrery::rules(op->kind);
  if (rules.most_operands > 0) {
    if (const auto of = take("of"))
      request.operands = read_names(*of, "an id", faults_).value_or(std::vector<std::string>());
    if (const auto donate = take("donate"))
      request.donated = read_names(*donate, "an id", faults_).value_or(std::vector<std::string>());
  }
  if (rules.family == Family::Collective) {
    if (const auto site = take("site"))
      request.site = read_text(*site, "a name", faults_).value_or("");
  }
  for (const Parameter& parameter : rules.parameters) {
    const std::optional<DocumentNode> value = take(parameter.name);
    // JAX writes None for what is not given.
    if (!value ||
        (value->kind() == DocumentNode::Kind::Null && parameter.need == Parameter::Need::Optional))
      continue;
    if (auto read = read_attribute(*value, parameter.kind, faults_))
      request.attributes.set(std::string(parameter.name), std::move(*read));
  }
  fields.finish();
  const bool reads_faulty = std::any_of(request.operands.begin(), request.operands.end(),
                                        [&](const std::string& name) { return is_faulty(name); });
  if (faults_.size() != before || reads_faulty) {
    faulty_.insert(request.name);
    complete_ = false;
    return;
  }
  builder_.op(std::move(request));
}

}  // namespace orrery
