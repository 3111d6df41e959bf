// This part of program_reader.h reads "fori_loop", a loop with a fixed trip count, as a region
// (models/program/program.h). The body is read once and stands for any iteration.
//
// In {"id": "layers", "op": "fori_loop", "lower": 0, "upper": 4, "index": "i", "carry": {"h": "x"},
// "body": [...], "yield": {"h": "y"}} the body's op "y" becomes "layers[].y", and iteration 2 calls
// it "layers[2].y". "h" is x in the first iteration, and later what the iteration before has
// yielded. "i" is a scalar constant, s32. After the loop, its carry is "layers.h", and also
// "layers" if the loop has no other carry.

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/scenario/fields.h"
#include "models/scenario/program_reader.h"
#include "models/scenario/size_limits.h"

namespace orrery {

namespace {

bool same_form(const ValueType& a, const ValueType& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.future == b.future;
}

std::string form_text(ValueType type, const Mesh& mesh) {
  std::fill(type.axes.begin(), type.axes.end(), AxisState::Invarying);
  return text(type, mesh);
}

/// Returns the error of a carry whose states change: "expected "h" to vary over x, as before the
/// loop, got "s", f32[2], which does not", and the cast that repairs it, if only varying and
/// invarying differ; otherwise an error that names both types.
std::string changed_states(const ValueType& first, const ValueType& next, const Mesh& mesh,
                           const std::string& carry, const std::string& yielded) {
  std::vector<std::string> gained;
  std::vector<std::string> lost;
  bool others = false;
  for (size_t a = 0; a < first.axes.size(); ++a) {
    const AxisState before = first.axes[a];
    const AxisState after = next.axes[a];
    if (before == after)
      continue;
    others = others || before > AxisState::Varying || after > AxisState::Varying;
    (after == AxisState::Varying ? gained : lost).push_back(mesh.axes()[a].name);
  }
  if (others || (!gained.empty() && !lost.empty()))
    return fmt::format("expected {} to stay {}, got {} from {}", carry, text(first, mesh),
                       text(next, mesh), yielded);
  return lost.empty() ? fmt::format(
                            "expected {} not to vary over {}, as before the loop, got {}, {}, "
                            "which does; pvary its initial value over {}",
                            carry, fmt::join(gained, " and "), yielded, text(next, mesh),
                            fmt::join(gained, " and "))
                      : fmt::format(
                            "expected {} to vary over {}, as before the loop, got {}, {}, which "
                            "does not; pvary what it yields over {}",
                            carry, fmt::join(lost, " and "), yielded, text(next, mesh),
                            fmt::join(lost, " and "));
}

/// Returns why a carry of the type `first` may not be `next` in the next iteration, as in JAX, or
/// "". Without checks of states, states may change, since they are inferred.
std::string changed_type(const ValueType& first, const ValueType& next, const Mesh& mesh,
                         Checks checks, const std::string& carry, const std::string& yielded) {
  if (first.token)
    return fmt::format("expected {} to be an array, got a token", carry);
  if (!same_form(first, next))
    return fmt::format("expected {} to stay {}, got {} from {}", carry, form_text(first, mesh),
                       form_text(next, mesh), yielded);
  if (checks == Checks::States && first.axes != next.axes)
    return changed_states(first, next, mesh, carry, yielded) +
           " (\"check_types\": false allows it)";
  return "";
}

}  // namespace

/// A name of the body whose value goes from one iteration to the next.
struct ProgramReader::LoopCarry {
  DocumentNode initial;  // whose key is the name
  DocumentNode yielded;
  std::optional<ValueId> value = {};  // before the loop
  ValueType type = {};

  const std::string& name() const { return initial.key(); }
};

struct ProgramReader::LoopText {
  DocumentNode node;
  std::string id;
  std::string name;  // in full
  int64_t lower = 0;
  int64_t upper = 0;
  std::optional<DocumentNode> index;
  std::vector<LoopCarry> carries;
  DocumentNode body;
  std::set<std::string> body_ids = {};
};

/// Reads the members of "carry", such as {"h": "x"}, with those of "yield".
void ProgramReader::read_carries(DocumentNode carry, std::optional<DocumentNode> yield,
                                 std::vector<LoopCarry>& carries) {
  constexpr std::string_view kForm = "an object with an id for each name such as {\"h\": \"x\"}";
  if (!is_object(carry, kForm, diagnostics_) || (yield && !is_object(*yield, kForm, diagnostics_)))
    return;
  std::map<std::string_view, DocumentNode> yields;
  if (yield)
    for (const DocumentNode yielded : *yield)
      yields.emplace(yielded.key(), yielded);
  std::set<std::string_view> names;
  for (const DocumentNode initial : carry) {
    names.insert(initial.key());
    const auto yielded = yields.find(initial.key());
    if (yielded != yields.end())
      carries.push_back({initial, yielded->second});
    else
      diagnostics_.add(initial.key_origin(),
                       fmt::format("expected \"yield\" to say what {} is in the next iteration",
                                   in_quotes(initial.key())));
  }
  for (const auto& [name, yielded] : yields)
    if (names.find(name) == names.end())
      diagnostics_.add(
          yielded.key_origin(),
          fmt::format("expected a name that \"carry\" has, got {}", in_quotes(yielded.key())));
}

std::optional<ProgramReader::LoopText> ProgramReader::read_loop_head(DocumentNode node,
                                                                     const Scope& scope) {
  const size_t before = diagnostics_.size();
  Fields fields(node, diagnostics_);
  (void)fields.required("op");
  std::string id;
  if (const auto given = fields.required("id"))
    id = read_id(*given, scope);
  constexpr IntegerRange kIndex = {std::numeric_limits<int32_t>::min(),
                                   std::numeric_limits<int32_t>::max()};
  const auto bound = [&](std::string_view key) -> int64_t {
    const auto given = fields.required(key);
    return given ? read_integer(*given, "a whole number", kIndex, diagnostics_).value_or(0) : 0;
  };
  const int64_t lower = bound("lower");
  const int64_t upper = std::max(lower, bound("upper"));  // as in JAX, it then runs no times
  const std::optional<DocumentNode> index = fields.optional("index");
  const std::optional<DocumentNode> carry = fields.optional("carry");
  const std::optional<DocumentNode> yield = fields.optional("yield");
  const std::optional<DocumentNode> body = fields.required("body");
  fields.finish();
  std::vector<LoopCarry> carries;
  if (carry)
    read_carries(*carry, yield, carries);
  else if (yield)
    diagnostics_.add(yield->key_origin(), "expected \"carry\" with what is yielded, got none");
  if (index)
    (void)read_id(*index, scope);
  if (!body || !is_list(*body, "a list of ops", diagnostics_) || diagnostics_.size() != before)
    return std::nullopt;
  LoopText loop{node, id, scope.prefix + id, lower, upper, index, std::move(carries), *body};
  for (const DocumentNode op : *body) {
    const auto name = op.kind() == DocumentNode::Kind::Object ? op.find("id") : std::nullopt;
    if (name && name->kind() == DocumentNode::Kind::Text)
      loop.body_ids.insert(name->text());
    if (name && name->kind() == DocumentNode::Kind::List)
      for (const DocumentNode each : *name)
        if (each.kind() == DocumentNode::Kind::Text)
          loop.body_ids.insert(each.text());
  }
  return loop;
}

void ProgramReader::read_loop(DocumentNode node, Scope& scope) {
  std::optional<LoopText> loop = read_loop_head(node, scope);
  if (!loop || !enter(*loop, scope)) {
    refuse_loop(node, scope);
    return;
  }
  builder_.begin_loop(loop->name, loop->lower, loop->upper, node.origin());
  std::vector<ValueId> yielded;
  if (!read_body(*loop, scope, yielded)) {
    builder_.refuse_loop();
    refuse_loop(node, scope);
    return;
  }
  std::vector<std::string> results;
  for (const LoopCarry& carry : loop->carries)
    results.push_back(fmt::format("{}.{}", loop->name, carry.name()));
  builder_.end_loop(yielded, results);
  for (const LoopCarry& carry : loop->carries) {
    const std::string given = fmt::format("{}.{}", loop->id, carry.name());
    define(scope, given, scope.prefix + given, node.origin());
  }
  if (loop->carries.size() == 1) {
    const size_t before = diagnostics_.size();
    define(scope, loop->id, loop->name, node.origin());
    if (diagnostics_.size() == before)
      builder_.name_also(results.front(), loop->name, node.origin());
  }
}

/// Looks up the values of the carries before the loop. Returns false if one is not a value.
bool ProgramReader::enter(LoopText& loop, const Scope& scope) {
  for (LoopCarry& carry : loop.carries) {
    const std::optional<std::string> name = read_reference(carry.initial, scope);
    if (!name)
      return false;
    const auto type = builder_.type_of(*name, carry.initial.origin());
    if (!type)
      return false;
    carry.value = builder_.value_of(*name, carry.initial.origin());
    carry.type = *type;
  }
  return true;
}

/// Returns the full name of the value of an id in "carry" or "yield". It is empty if there is none.
std::optional<std::string> ProgramReader::read_reference(DocumentNode node, const Scope& scope) {
  const std::optional<std::string> name = read_text(node, "an id", diagnostics_);
  const auto full = name ? resolved(*name, node.origin(), scope) : std::nullopt;
  return full && !is_invalid(*full) ? full : std::nullopt;
}

/// Reads the body, and what each carry yields. Returns false after an error. The body of a loop
/// without iterations is not read; then each carry yields its own value.
bool ProgramReader::read_body(const LoopText& loop, const Scope& outside,
                              std::vector<ValueId>& yielded) {
  const Diagnostics::Note note(diagnostics_, fmt::format(" (in {})", without_indices(loop.name)));
  const size_t before = diagnostics_.size();
  Scope scope{&outside,
              name_in(any_iteration(loop.name), ""),
              any_iteration(outside.site_suffix),
              &loop.body_ids,
              {}};
  for (const LoopCarry& carry : loop.carries) {
    const std::string param = scope.prefix + carry.name();
    define(scope, carry.name(), param, carry.initial.key_origin());
    yielded.push_back(builder_.carry(param, carry.value.value(), carry.initial.key_origin()));
  }
  if (loop.lower == loop.upper)
    return diagnostics_.size() == before;
  yielded.clear();
  // This counts what an iteration defines. An iteration that defines nothing still takes time.
  const size_t ops =
      std::max<size_t>(loop.body.size() + loop.carries.size() + (loop.index ? 1 : 0), 1);
  if (!fits(loop.node, ops, 0))
    return false;
  if (loop.index) {
    OpRequest constant;
    constant.name = scope.prefix + loop.index->text();
    constant.kind = OpKind::Full;
    constant.attributes = index_attributes(loop.lower);
    constant.origin = loop.index->origin();
    define(scope, loop.index->text(), constant.name, loop.index->origin());
    if (diagnostics_.size() == before) {
      builder_.op(std::move(constant));
      builder_.last_op_is_index();
    }
  }
  read_ops(loop.body, scope);
  for (const LoopCarry& carry : loop.carries) {
    const std::optional<std::string> name = read_reference(carry.yielded, scope);
    const auto type = name ? builder_.type_of(*name, carry.yielded.origin()) : std::nullopt;
    if (!type)
      return false;
    if (const std::string changed =
            changed_type(carry.type, *type, mesh_, builder_.checks(), in_quotes(carry.name()),
                         in_quotes(carry.yielded.text()));
        !changed.empty())
      diagnostics_.add(
          carry.yielded.origin(),
          fmt::format("fori_loop {}: {}", in_quotes(without_indices(loop.name)), changed));
    yielded.push_back(builder_.value_of(*name, carry.yielded.origin()).value());
  }
  return diagnostics_.size() == before;
}

/// Marks the names that the loop would have defined, so that using them is no further error.
void ProgramReader::refuse_loop(DocumentNode node, Scope& scope) {
  complete_ = false;
  const auto refuse = [&](const std::string& name) {
    invalid_.insert(scope.prefix + name);
    define(scope, name, scope.prefix + name, node.origin());
  };
  const std::optional<DocumentNode> id = node.find("id");
  if (!id || id->kind() != DocumentNode::Kind::Text)
    return;
  refuse(id->text());
  const std::optional<DocumentNode> carry = node.find("carry");
  if (carry && carry->kind() == DocumentNode::Kind::Object)
    for (const DocumentNode initial : *carry)
      refuse(fmt::format("{}.{}", id->text(), initial.key()));
}

}  // namespace orrery
