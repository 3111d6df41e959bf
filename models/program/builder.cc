#include "models/program/builder.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/program/groups.h"
#include "models/program/holders.h"
#include "models/program/loops.h"
#include "models/program/op_rules.h"
#include "models/program/rules.h"

namespace orrery {

namespace {

/// Returns "/program/0 (line 5)" or the like.
std::string origin_text(const Origin& origin) {
  return origin.pointer + (origin.at ? fmt::format(" (line {})", origin.at->line) : "");
}

std::string operand_count(const OpRules& rules) {
  if (rules.most_operands == 0)
    return "no operands";
  const char* least = rules.least_operands == rules.most_operands ? "" : "at least ";
  return fmt::format("{}{} operand{}", least, rules.least_operands,
                     rules.least_operands == 1 ? "" : "s");
}

}  // namespace

ProgramBuilder::ProgramBuilder(Mesh mesh, Checks checks, Diagnostics& diagnostics)
    : checks_(checks), diagnostics_(diagnostics), sites_(program_, diagnostics) {
  program_.mesh = std::move(mesh);
}

void ProgramBuilder::add_error(const OpRequest& request, std::string_view key,
                               std::string_view message) {
  diagnostics_.add(
      request.key_origin(key),
      fmt::format("{}: {}",
                  request.title.empty() ? op_title(request.kind, request.issue, request.name)
                                        : request.title,
                  message));
}

/// Returns the entry of `name`, or null with an error if the name was taken.
ProgramBuilder::Definition* ProgramBuilder::define(const std::string& name, const Origin& at,
                                                   Definition definition) {
  definition.loop = open_loops_.empty() ? std::nullopt : std::optional(open_loops_.back());
  const auto [entry, added] = defined_.emplace(name, std::move(definition));
  std::optional<Taken> taken;
  if (!added)
    taken = Taken{shown(name), entry->second.origin};
  else
    taken = taken_in_loops(entry);
  if (!taken)
    return &entry->second;
  diagnostics_.add(
      at, fmt::format("expected an unused id, got \"{}\", which {}", taken->name,
                      taken->by ? origin_text(*taken->by) + " already names" : "is taken"));
  return nullptr;
}

ValueId ProgramBuilder::add_value(std::string name, ValueType type, Location location) {
  program_.values.push_back({std::move(name), std::move(type), location.buffer, location.offset});
  return ValueId(program_.values.size() - 1);
}

void ProgramBuilder::argument(std::string name, Dtype dtype, Shape local,
                              std::vector<std::string> varying, std::optional<Origin> origin,
                              std::optional<std::vector<LogicalId>> on) {
  if (const auto wrong = axes_error(program_.mesh, varying)) {
    const Origin at = origin_of(name, origin);
    define(name, at, {std::nullopt, false, std::nullopt, origin});
    diagnostics_.add(at, *wrong);
    return;
  }
  ValueType type{dtype, std::move(local),
                 AxisStates(program_.mesh.axes().size(), AxisState::Invarying), false};
  for (const size_t axis : axis_positions(program_.mesh, varying))
    type.axes[axis] = AxisState::Varying;
  argument(std::move(name), std::move(type), std::move(origin), std::move(on));
}

void ProgramBuilder::argument(std::string name, ValueType type, std::optional<Origin> origin,
                              std::optional<std::vector<LogicalId>> on) {
  ORRERY_CHECK(type.axes.size() == program_.mesh.axes().size(), "a type has a state per axis");
  const Origin at = origin_of(name, origin);
  Definition* definition = define(name, at, {std::nullopt, false, std::nullopt, origin});
  if (definition == nullptr)
    return;
  try {
    const Location location = locate_result(program_, {}, type.size(), {});
    definition->value = add_value(std::move(name), type, location);
  } catch (const Overflow&) {
    diagnostics_.add(at, fmt::format("expected an array of fewer than 2^63 bytes, got {}{}",
                                     orrery::name(type.dtype), type.shape.text()));
    return;
  }
  if (on) {
    ORRERY_CHECK(std::is_sorted(on->begin(), on->end()), "an argument's devices ascend");
    limited_.emplace(*definition->value, Limit{*on, *definition->value});
  }
  program_.arguments.push_back({*definition->value, std::move(on)});
}

void ProgramBuilder::thread(std::string name, std::vector<LogicalId> devices,
                            std::optional<Origin> origin) {
  std::sort(devices.begin(), devices.end());
  const Origin at = origin_of(name, origin);
  if (devices.empty())
    diagnostics_.add(at, fmt::format("expected a device for program \"{}\", got none", name));
  for (size_t i = 0; i < devices.size(); ++i) {
    ORRERY_CHECK(devices[i].index() < program_.mesh.devices(), "a thread runs on the mesh");
    ORRERY_CHECK(i == 0 || devices[i] != devices[i - 1], "a thread names each device once");
  }
  program_.threads.push_back({std::move(name), std::move(devices), {}});
  without_.clear();
}

/// Returns the value `name` in `thread` (or in any thread). Returns nothing after an error, which
/// is reported now, at the end, or was reported with the op that should have defined it.
std::optional<ValueId> ProgramBuilder::value_named(const std::string& name, const Origin& at,
                                                   std::optional<ThreadId> thread) {
  const auto found = defined_.find(name);
  const std::optional<Definition> exit =
      found == defined_.end() ? exit_named(name) : std::optional<Definition>();
  if (found == defined_.end() && !exit) {
    if (undefined_uses_.emplace(at.pointer, name).second)
      undefined_.push_back({diagnostics_.noted(at), name});
    return std::nullopt;
  }
  const Definition& definition = exit ? *exit : found->second;
  if (thread && definition.thread && definition.thread != thread) {
    diagnostics_.add(at, fmt::format("expected the id of an array or of an earlier op of the same "
                                     "program, got \"{}\", which is of program \"{}\"",
                                     shown(name), program_.thread(*definition.thread).name));
    return std::nullopt;
  }
  if (definition.is_void)
    diagnostics_.add(at, fmt::format("expected the id of a value, got \"{}\", an op without a "
                                     "result",
                                     shown(name)));
  return definition.value;
}

std::optional<std::vector<ValueId>> ProgramBuilder::resolve_operands(const OpRequest& request,
                                                                     const OpRules& rules) {
  bool right = true;
  const size_t count = request.operands.size();
  if (count < rules.least_operands || count > rules.most_operands) {
    add_error(request, "of", fmt::format("expected {}, got {}", operand_count(rules), count));
    right = false;
  }
  const ThreadId thread(program_.threads.size() - 1);
  std::vector<ValueId> operands;
  for (const std::string& name : request.operands) {
    const auto value = value_named(name, request.key_origin("of"), thread);
    if (!value) {
      right = false;
      continue;
    }
    if (program_.value(*value).type.future && rules.family != Family::Done) {
      add_error(request, "of",
                fmt::format("expected a value, got \"{}\", a future that only done may read",
                            shown(name)));
      right = false;
    }
    if (program_.value(*value).type.token && !rules.takes_tokens) {
      add_error(request, "of",
                fmt::format("expected an array, got \"{}\", a token, which only precv and "
                            "optimization_barrier take",
                            shown(name)));
      right = false;
    }
    if (const auto device = first_without(*value); device && request.kind != OpKind::HeldOrZeros) {
      add_error(
          request, "of",
          fmt::format("expected an array that every device of program \"{}\" has, got \"{}\", "
                      "which {}",
                      program_.thread(thread).name, shown(name), whereabouts(*value, *device)));
      right = false;
    }
    operands.push_back(*value);
  }
  if (!right)
    return std::nullopt;
  return operands;
}

/// Returns the first device of the thread begun last that lacks the value, if there is one.
std::optional<LogicalId> ProgramBuilder::first_without(ValueId value) {
  const auto limited = limited_.find(value);
  if (limited == limited_.end())
    return std::nullopt;
  const auto [known, added] = without_.emplace(value, std::nullopt);
  if (added) {
    const std::vector<LogicalId>& on = limited->second.devices;
    const std::vector<LogicalId>& devices = program_.threads.back().devices;
    const auto lacking = std::find_if(devices.begin(), devices.end(),
                                      [&](LogicalId device) { return !index_among(on, device); });
    if (lacking != devices.end())
      known->second = *lacking;
  }
  return known->second;
}

/// Says where a value is that this device lacks: in which groups, if a reshard has put it there.
std::string ProgramBuilder::whereabouts(ValueId value, LogicalId without) const {
  const std::string& name = program_.value(limited_.at(value).of).name;
  for (const Reshard& reshard : program_.reshards)
    for (const Reshard::Array& array : reshard.arrays)
      if (reshard.to == Reshard::To::Groups && array.to == name)
        return fmt::format("only group{} {} of axis \"{}\" ha{}",
                           array.groups.size() == 1 ? "" : "s", fmt::join(array.groups, ", "),
                           reshard.axis, array.groups.size() == 1 ? "s" : "ve");
  return fmt::format("device {} lacks", without.index());
}

std::optional<std::vector<ValueId>> ProgramBuilder::resolve_donated(
    const OpRequest& request, const std::vector<ValueId>& operands) {
  std::map<std::string_view, ValueId> by_name;
  for (size_t i = 0; i < operands.size(); ++i)
    by_name.emplace(request.operands[i], operands[i]);
  std::vector<ValueId> donated;
  std::set<ValueId> seen;
  for (const std::string& name : request.donated) {
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      std::vector<std::string> names;
      for (const std::string& operand : request.operands)
        names.push_back(shown(operand));
      add_error(request, "donate",
                fmt::format("expected one of its operands ({}), got \"{}\"", fmt::join(names, ", "),
                            shown(name)));
      return std::nullopt;
    }
    if (seen.insert(found->second).second)
      donated.push_back(found->second);
  }
  return donated;
}

struct ProgramBuilder::Results {
  std::vector<ValueType> types;
  OpMemory memory;
};

/// Returns the types by which an op is judged. Without checks of states a value is either varying
/// or invarying.
std::vector<ValueType> ProgramBuilder::operand_types(std::span<const ValueId> operands) const {
  std::vector<ValueType> types;
  for (const ValueId operand : operands) {
    types.push_back(program_.value(operand).type);
    for (AxisState& state : types.back().axes)
      if (checks_ == Checks::Shapes && state != AxisState::Invarying)
        state = AxisState::Varying;
  }
  return types;
}

/// Returns the op's results, or nothing with an error if its rules refuse it.
std::optional<ProgramBuilder::Results> ProgramBuilder::judge_results(
    const OpRequest& request, const OpRules& rules, const std::vector<ValueId>& operands,
    int64_t group_size) {
  const std::vector<ValueType> types = operand_types(operands);
  try {
    TypeOutcome outcome =
        rules.type({program_.mesh, checks_, request.attributes, types, group_size});
    if (const auto* wrong = std::get_if<TypeError>(&outcome)) {
      add_error(request, wrong->parameter, wrong->message);
      return std::nullopt;
    }
    auto results = std::get<std::vector<ValueType>>(std::move(outcome));
    // These checks make sure that sizes and costs of the program can always be computed.
    for (const ValueType& result : results) {
      if (result.shape.rank() > kMostDimensions) {
        add_error(request, "",
                  fmt::format("expected a result of at most {} dimensions, got {}", kMostDimensions,
                              result.shape.rank()));
        return std::nullopt;
      }
      static_cast<void>(result.size());
    }
    if (rules.cost != nullptr)
      static_cast<void>(rules.cost(request.attributes, types, results));
    OpMemory memory = rules.memory(request.attributes, types, results);
    for (ValueType& result : results)
      result.future = request.issue == Issue::Start;
    return Results{std::move(results), std::move(memory)};
  } catch (const Overflow&) {
    std::vector<std::string> texts;
    for (const ValueType& type : types)
      texts.push_back(text(type, program_.mesh));
    add_error(
        request, "",
        fmt::format("expected fewer than 2^63 bytes and operations, got more for operands ({})",
                    fmt::join(texts, ", ")));
    return std::nullopt;
  }
}

/// Returns whether every operand that a result overwrites is donated. Reports an error otherwise.
bool ProgramBuilder::check_in_place(const OpRequest& request, const std::vector<ValueId>& operands,
                                    const std::vector<ValueId>& donated, const OpMemory& memory) {
  for (const ResultMemory& result : memory.results) {
    const auto in_same_buffer = [&](ValueId operand) {
      return program_.value(operand).buffer == program_.value(operands[result.operand]).buffer;
    };
    if (result.alias == Alias::InPlace && rules(request.kind).donates_overwritten &&
        std::count_if(operands.begin(), operands.end(), in_same_buffer) > 1) {
      add_error(
          request, "of",
          fmt::format("expected \"{}\", over which a result is written, to be no other operand "
                      "too, nor to share memory with one",
                      shown(request.operands[result.operand])));
      return false;
    }
    if (result.alias != Alias::InPlace ||
        std::find(donated.begin(), donated.end(), operands[result.operand]) != donated.end())
      continue;
    add_error(request, "donate",
              fmt::format("expected \"{}\", over which a result is written, to be donated",
                          shown(request.operands[result.operand])));
    return false;
  }
  return true;
}

/// Returns whether the op names each of its results. An op without results has a name too.
bool ProgramBuilder::check_names(const OpRequest& request, size_t results) {
  const size_t expected = std::max<size_t>(results, 1);
  const size_t given = 1 + request.other_results.size();
  if (given != expected)
    add_error(request, "id",
              fmt::format("expected {} id{}, got {}: it has {} result{}", expected,
                          expected == 1 ? "" : "s", given,
                          results == 0 ? "no" : std::to_string(results), results == 1 ? "" : "s"));
  return given == expected;
}

/// Adds the op to the thread. Returns nothing, with an error, if its parameters and operands do not
/// fit together. Requires that each of them is valid.
std::optional<OpId> ProgramBuilder::make_op(const OpRequest& request, const OpRules& rules,
                                            const std::vector<ValueId>& operands) {
  const bool collective = rules.family == Family::Collective;
  if (!collective && request.issue == Issue::Start) {
    add_error(request, "op", "expected a collective to start");
    return std::nullopt;
  }
  if (!collective && !request.site.empty()) {
    add_error(request, "site", "expected no site: only collectives meet");
    return std::nullopt;
  }
  if (rules.form.side == Side::Receives && operands.empty() && request.site.empty()) {
    add_error(request, "",
              "expected a token in \"of\", or a \"site\" where a psend meets it, got neither");
    return std::nullopt;
  }
  if (rules.form.side == Side::Receives && !operands.empty() && !request.site.empty() &&
      sites_.is_sent(operands.front())) {
    add_error(request, "site", "expected no site: it receives from the psend of its token");
    return std::nullopt;
  }
  if (collective) {
    if (const auto wrong = groups_error(program_.mesh, request.attributes, rules.group_sizes)) {
      add_error(request, wrong->parameter, wrong->message);
      return std::nullopt;
    }
  }
  const int64_t group_size = collective ? orrery::group_size(program_.mesh, request.attributes) : 1;
  auto results = judge_results(request, rules, operands, group_size);
  auto donated = resolve_donated(request, operands);
  if (results && donated && rules.donates_overwritten)
    for (const ResultMemory& memory : results->memory.results)
      if (memory.alias == Alias::InPlace &&
          std::find(donated->begin(), donated->end(), operands[memory.operand]) == donated->end())
        donated->push_back(operands[memory.operand]);
  if (results && donated)
    update_in_place(request.kind, operands, *donated, results->memory);
  if (!results || !donated || !check_names(request, results->types.size()) ||
      !check_in_place(request, operands, *donated, results->memory))
    return std::nullopt;

  Op op;
  op.name = request.name;
  op.kind = request.kind;
  op.issue = request.issue;
  op.pass = request.pass;
  if (!request.forward.empty())
    if (const auto forward = defined_.find(request.forward); forward != defined_.end())
      op.forward = forward->second.op;
  op.attributes = request.attributes;
  if (collective)
    op.hints = take_hints(op.attributes);
  op.group = request.group;
  op.reshard = request.reshard;
  if (!op.group.empty())
    op.hints.stream = static_cast<uint32_t>(kMostStream) + 1 + request.place_in_group;
  op.operands = operands;
  op.donated = *donated;
  if (request.origin)
    op.origin = diagnostics_.noted(*request.origin);
  if (collective) {
    op.site = sites_.enter(op, request,
                           open_loops_.empty() ? SiteBuilder::In::Thread : SiteBuilder::In::Body);
    if (!open_loops_.empty() || !request.site.empty())
      site_requests_.emplace(OpId(program_.ops.size()), request);
  }
  for (size_t r = 0; r < results->types.size(); ++r) {
    ValueType& type = results->types[r];
    const Location location =
        locate_result(program_, results->memory.results[r], type.size(), operands);
    op.results.push_back(add_value(request.result_name(r), std::move(type), location));
  }
  if (op.kind == OpKind::HeldOn) {
    const std::vector<LogicalId>& devices = program_.threads.back().devices;
    std::vector<LogicalId> held = held_on(devices, op.attributes);
    if (held.size() < devices.size())
      limited_.emplace(op.results.front(), Limit{std::move(held), op.results.front()});
  }
  sites_.follow_tokens(op);
  const OpId id(program_.ops.size());
  program_.ops.push_back(std::move(op));
  program_.threads.back().issue_order.push_back(id);
  return id;
}

void ProgramBuilder::op(OpRequest request) {
  ORRERY_CHECK(!program_.threads.empty(), "an op belongs to a thread");
  const OpRules& rules = orrery::rules(request.kind);
  const bool right = check_parameters(request, rules);
  const auto operands = resolve_operands(request, rules);
  std::vector<Definition*> definitions;
  for (size_t r = 0; r <= request.other_results.size(); ++r)
    definitions.push_back(
        define(request.result_name(r), request.result_origin(r),
               {std::nullopt, false, ThreadId(program_.threads.size() - 1), request.origin}));
  const auto made = right && operands ? make_op(request, rules, *operands) : std::nullopt;
  if (!made) {
    sites_.refuse(request.site);
    return;
  }
  if (definitions.front() != nullptr)
    definitions.front()->op = *made;
  const std::vector<ValueId>& results = program_.op(*made).results;
  for (size_t r = 0; r < definitions.size(); ++r) {
    if (definitions[r] == nullptr)
      continue;
    definitions[r]->is_void = results.empty();
    if (!results.empty())
      definitions[r]->value = results[r];
  }
}

std::optional<ValueId> ProgramBuilder::value_of(const std::string& name, const Origin& at) {
  return value_named(name, at, ThreadId(program_.threads.size() - 1));
}

void ProgramBuilder::expect(size_t ops) {
  program_.ops.reserve(program_.ops.size() + ops);
  program_.values.reserve(program_.values.size() + ops);
  sites_.expect(ops);
}

ProgramBuilder::Size ProgramBuilder::size() const {
  return {static_cast<uint32_t>(program_.ops.size()), static_cast<uint32_t>(program_.values.size()),
          static_cast<uint32_t>(program_.buffers.size())};
}

std::optional<ValueType> ProgramBuilder::type_of(const std::string& name, const Origin& at) {
  const auto value = value_of(name, at);
  return value ? std::optional(program_.value(*value).type) : std::nullopt;
}

void ProgramBuilder::name_also(const std::string& of, std::string name,
                               std::optional<Origin> origin) {
  const auto found = defined_.find(of);
  ORRERY_CHECK(found != defined_.end() && found->second.value, "there is a value to name");
  Definition definition = found->second;
  definition.origin = origin;
  if (define(name, origin_of(name, origin), definition) != nullptr)
    program_.other_names.emplace(std::move(name), *definition.value);
}

void ProgramBuilder::output(std::string name, std::optional<Origin> origin) {
  const Origin at = origin_of(name, origin);
  const auto value = value_named(name, at, std::nullopt);
  if (!value)
    return;
  if (program_.value(*value).type.future)
    diagnostics_.add(
        at, fmt::format("expected a value, got \"{}\", a future that only done may read", name));
  else if (program_.value(*value).type.token)
    diagnostics_.add(at, fmt::format("expected an array, got \"{}\", a token", name));
  program_.outputs.push_back(*value);
}

void ProgramBuilder::report_undefined() {
  for (const Undefined& use : undefined_) {
    auto later = defined_.find(use.name);
    if (later == defined_.cend())
      if (const auto in = in_iterations("", use.name))
        later = defined_.find(in->found->first);
    std::string hint;
    if (later != defined_.end()) {
      hint = later->second.origin
                 ? fmt::format(", which only {} defines", origin_text(*later->second.origin))
                 : ", which is defined later";
    } else {
      hint = iterations_hint(program_, use.name);
      const std::vector<std::string> known = names_for_hints(use.name);
      if (hint.empty())
        hint = did_you_mean(use.name, std::vector<std::string_view>(known.begin(), known.end()));
    }
    diagnostics_.add(use.origin, fmt::format("expected the id of an array or of an earlier op, got "
                                             "\"{}\"{}",
                                             use.name, hint));
  }
  undefined_.clear();
}

Program ProgramBuilder::finish() {
  report_undefined();
  program_.sites = sites_.finish();
  return std::move(program_);
}

void BodyBuilder::argument(std::string name, Dtype dtype, const Shape& shape) {
  builder_.argument(std::move(name), dtype, shape, {});
}

std::string BodyBuilder::op(OpKind kind, std::vector<std::string> operands, Attributes attributes) {
  if (count_ == 0)
    builder_.thread("body", {LogicalId(0)});
  OpRequest request;
  request.name = fmt::format("v{}", count_++);
  request.kind = kind;
  request.operands = std::move(operands);
  request.attributes = std::move(attributes);
  std::string name = request.name;
  builder_.op(std::move(request));
  return name;
}

Program BodyBuilder::finish(const std::vector<std::string>& outputs) && {
  for (const std::string& output : outputs)
    builder_.output(output);
  Program program = builder_.finish();
  diagnostics_.throw_if_any();
  return program;
}

}  // namespace orrery
