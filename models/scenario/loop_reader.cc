// The part of program_reader.h that reads "fori_loop", a loop with a fixed trip count, by reading
// its body once for each iteration. So the program has ordinary ops only, and whoever works on
// programs knows nothing of loops.
//
// In {"id": "layers", "op": "fori_loop", "lower": 0, "upper": 4, "index": "i", "carry": {"h": "x"},
// "body": [...], "yield": {"h": "y"}} the body's op "y" becomes "layers[0].y", "layers[1].y", ...;
// "h" is x in the first iteration, and then what the iteration before has yielded; "i" is a scalar
// constant, s32. After the loop, what it carries is "layers.h", and "layers" where that is all.

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "models/scenario/bounds.h"
#include "models/scenario/fields.h"
#include "models/scenario/program_reader.h"

namespace orrery {

namespace {

/// Whether a carry may go from one iteration to the next. States are for the ops to judge.
bool same_form(const ValueType& a, const ValueType& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.future == b.future;
}

std::string form_text(ValueType type, const Mesh& mesh) {
  std::fill(type.axes.begin(), type.axes.end(), AxisState::Invarying);
  return text(type, mesh);
}

}  // namespace

/// A name of the body whose value goes from one iteration to the next.
struct ProgramReader::LoopCarry {
  DocumentNode initial;  // whose key is the name
  DocumentNode yielded;
  std::string value = {};              // what it stands for in the next iteration
  std::optional<ValueType> type = {};  // of the first

  const std::string& name() const { return initial.key(); }
};

struct ProgramReader::Loop {
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

/// {"h": "x"}: the members of "carry" with those of "yield".
void ProgramReader::read_carries(DocumentNode carry, std::optional<DocumentNode> yield,
                                 std::vector<LoopCarry>& carries) {
  constexpr std::string_view kForm = "an object with an id for each name such as {\"h\": \"x\"}";
  if (!is_object(carry, kForm, faults_) || (yield && !is_object(*yield, kForm, faults_)))
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
      faults_.add(initial.key_origin(),
                  fmt::format("expected \"yield\" to say what {} is in the next iteration",
                              in_quotes(initial.key())));
  }
  for (const auto& [name, yielded] : yields)
    if (names.find(name) == names.end())
      faults_.add(yielded.key_origin(), fmt::format("expected a name that \"carry\" has, got {}",
                                                    in_quotes(yielded.key())));
}

std::optional<ProgramReader::Loop> ProgramReader::read_loop_head(DocumentNode node,
                                                                 const Scope& scope) {
  const size_t before = faults_.size();
  Fields fields(node, faults_);
  (void)fields.required("op");
  std::string id;
  if (const auto given = fields.required("id"))
    id = read_id(*given, scope);
  constexpr IntegerRange kIndex = {std::numeric_limits<int32_t>::min(),
                                   std::numeric_limits<int32_t>::max()};
  const auto bound = [&](std::string_view key) -> int64_t {
    const auto given = fields.required(key);
    return given ? read_integer(*given, "a whole number", kIndex, faults_).value_or(0) : 0;
  };
  const int64_t lower = bound("lower");
  const int64_t upper = bound("upper");
  const std::optional<DocumentNode> index = fields.optional("index");
  const std::optional<DocumentNode> carry = fields.optional("carry");
  const std::optional<DocumentNode> yield = fields.optional("yield");
  const std::optional<DocumentNode> body = fields.required("body");
  fields.finish();
  std::vector<LoopCarry> carries;
  if (carry)
    read_carries(*carry, yield, carries);
  else if (yield)
    faults_.add(yield->key_origin(), "expected \"carry\" with what is yielded, got none");
  if (index)
    (void)read_id(*index, scope);
  if (!body || !is_list(*body, "a list of ops", faults_) || faults_.size() != before)
    return std::nullopt;
  if (upper < lower) {
    faults_.add(node.origin(), fmt::format("fori_loop: expected \"upper\" to be at least \"lower\" "
                                           "{}, got {}",
                                           lower, upper));
    return std::nullopt;
  }
  Loop loop{node, id, scope.prefix + id, lower, upper, index, std::move(carries), *body};
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
  std::optional<Loop> loop = read_loop_head(node, scope);
  if (!loop || !enter(*loop, scope)) {
    refuse_loop(node, scope);
    return;
  }
  // What an iteration defines; one that defines nothing takes its time all the same.
  const size_t ops =
      std::max<size_t>(loop->body.size() + loop->carries.size() + (loop->index ? 1 : 0), 1);
  for (int64_t i = loop->lower; i < loop->upper; ++i) {
    if (!fits(node, ops, 0) || !read_iteration(*loop, i, scope)) {
      refuse_loop(node, scope);
      return;
    }
  }
  const auto name = [&](const std::string& given, const std::string& value) {
    builder_.name_also(value, scope.prefix + given, node.origin());
    define(scope, given, scope.prefix + given, node.origin());
  };
  for (const LoopCarry& carry : loop->carries)
    name(fmt::format("{}.{}", loop->id, carry.name()), carry.value);
  if (loop->carries.size() == 1)
    name(loop->id, loop->carries.front().value);
}

/// What the carries are before the first iteration; false where one is no value.
bool ProgramReader::enter(Loop& loop, const Scope& scope) {
  for (LoopCarry& carry : loop.carries) {
    const std::optional<std::string> value = read_reference(carry.initial, scope);
    if (!value)
      return false;
    carry.value = *value;
    carry.type = builder_.type_of(*value, carry.initial.origin());
    if (!carry.type)
      return false;
  }
  return true;
}

/// The value that an id of "carry" or "yield" means; empty where that is none.
std::optional<std::string> ProgramReader::read_reference(DocumentNode node, const Scope& scope) {
  const std::optional<std::string> name = read_text(node, "an id", faults_);
  const auto full = name ? resolved(*name, node.origin(), scope) : std::nullopt;
  return full && !is_faulty(*full) ? full : std::nullopt;
}

/// False where something was wrong: the next iteration would only say it again.
bool ProgramReader::read_iteration(Loop& loop, int64_t i, const Scope& outside) {
  const Diagnostics::Note note(faults_, fmt::format(" (in {}[{}])", loop.name, i));
  const size_t before = faults_.size();
  Scope scope{&outside,
              fmt::format("{}[{}].", loop.name, i),
              fmt::format("{}[{}]", outside.site_suffix, i),
              &loop.body_ids,
              {}};
  for (const LoopCarry& carry : loop.carries)
    define(scope, carry.name(), carry.value, carry.initial.key_origin());
  if (loop.index) {
    OpRequest constant;
    constant.name = scope.prefix + loop.index->text();
    constant.kind = OpKind::Full;
    constant.attributes.set("shape", std::vector<int64_t>());
    constant.attributes.set("fill_value", static_cast<double>(i));
    constant.attributes.set("dtype", Dtype::S32);
    constant.origin = loop.index->origin();
    define(scope, loop.index->text(), constant.name, loop.index->origin());
    builder_.op(std::move(constant));
  }
  read_ops(loop.body, scope);

  std::vector<std::string> next;
  for (const LoopCarry& carry : loop.carries) {
    const std::optional<std::string> value = read_reference(carry.yielded, scope);
    const auto type = value ? builder_.type_of(*value, carry.yielded.origin()) : std::nullopt;
    if (!type)
      return false;
    if (!same_form(*type, *carry.type))
      faults_.add(carry.yielded.origin(),
                  fmt::format("fori_loop: expected {} to stay {}, got {} from {}",
                              in_quotes(carry.name()), form_text(*carry.type, mesh_),
                              form_text(*type, mesh_), in_quotes(carry.yielded.text())));
    next.push_back(*value);
  }
  for (size_t c = 0; c < next.size(); ++c)
    loop.carries[c].value = next[c];
  return faults_.size() == before;
}

/// Nothing is known about what the loop would have made.
void ProgramReader::refuse_loop(DocumentNode node, Scope& scope) {
  complete_ = false;
  const auto refuse = [&](const std::string& name) {
    faulty_.insert(scope.prefix + name);
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
