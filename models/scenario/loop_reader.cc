// The part of program_reader.h that reads "fori_loop", a loop with a fixed trip count. Its body is
// read once for each iteration that the program writes out: each gets ordinary ops. Once an
// iteration begins as the one before did, all later ones are alike, and those between the first and
// the last are left out (models/program/loop.h).
//
// In {"id": "layers", "op": "fori_loop", "lower": 0, "upper": 4, "index": "i", "carry": {"h": "x"},
// "body": [...], "yield": {"h": "y"}} the body's op "y" becomes "layers[0].y", "layers[1].y", ...;
// "h" is x in the first iteration, and then what the iteration before has yielded; "i" is a scalar
// constant, s32. After the loop, what it carries is "layers.h", and "layers" where that is all.

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

/// "expected "h" to vary over x, as before the loop, got "s", f32[2], which does not", and the cast
/// that repairs it, where only varying and invarying differ; else both types.
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

/// Why a carry of the type `first` may not be `next` in the next iteration, as in JAX; or "".
/// Without checks of states these are inferred in each iteration anew.
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
  std::string value = {};              // its value in the next iteration
  std::optional<ValueType> type = {};  // of its first value

  const std::string& name() const { return initial.key(); }
};

/// The carries at the beginning of an iteration: values and their buffers, those of earlier
/// iterations by their distance, others by themselves.
struct ProgramReader::LoopEntry {
  struct Located {
    uint32_t iterations_before = 0;  // 0: from before the loop
    uint32_t index = 0;              // in that iteration; else among all
    friend bool operator==(const Located&, const Located&) = default;
  };
  struct Carried {
    Located value;
    Located buffer;  // may be of an earlier iteration than the value, which is then an alias
    ValueType type;
    friend bool operator==(const Carried&, const Carried&) = default;
  };
  std::vector<Carried> carried;
  friend bool operator==(const LoopEntry&, const LoopEntry&) = default;

  static Located located(const std::vector<LoopIteration>& written, IdRange LoopIteration::*ids,
                         size_t id) {
    const auto iteration =
        std::partition_point(written.begin(), written.end(),
                             [&](const LoopIteration& each) { return (each.*ids).end <= id; });
    const auto index = static_cast<uint32_t>(id);
    if (iteration == written.end() || !((*iteration).*ids).has(id))
      return {0, index};
    return {static_cast<uint32_t>(written.end() - iteration), index - ((*iteration).*ids).begin};
  }

  uint32_t furthest() const {
    uint32_t furthest = 0;
    for (const Carried& each : carried)
      furthest = std::max({furthest, each.value.iterations_before, each.buffer.iterations_before});
    return furthest;
  }
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

/// {"h": "x"}: the members of "carry" with those of "yield".
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
    diagnostics_.add(yield->key_origin(), "expected \"carry\" with what is yielded, got none");
  if (index)
    (void)read_id(*index, scope);
  if (!body || !is_list(*body, "a list of ops", diagnostics_) || diagnostics_.size() != before)
    return std::nullopt;
  if (upper < lower) {
    diagnostics_.add(node.origin(),
                     fmt::format("fori_loop: expected \"upper\" to be at least \"lower\" "
                                 "{}, got {}",
                                 lower, upper));
    return std::nullopt;
  }
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
  left_out_.saw(loop->id, loop->name, loop->lower, loop->upper);
  const uint32_t ops = builder_.size().ops;
  int64_t lower = loop->lower;
  for (const int64_t end : kept_.ends(scope.around, loop->lower, loop->upper)) {
    if (!read_iterations(*loop, lower, end, scope)) {
      refuse_loop(node, scope);
      return;
    }
    lower = end;
  }
  if (builder_.size().ops == ops)
    builder_.empty_loop(loop->name);
  const auto name = [&](const std::string& given, const std::string& value) {
    builder_.name_also(value, scope.prefix + given, node.origin());
    define(scope, given, scope.prefix + given, node.origin());
  };
  for (const LoopCarry& carry : loop->carries)
    name(fmt::format("{}.{}", loop->id, carry.name()), carry.value);
  if (loop->carries.size() == 1)
    name(loop->id, loop->carries.front().value);
}

/// Reads these as a loop of its own. False after an error.
bool ProgramReader::read_iterations(LoopText& loop, int64_t lower, int64_t upper,
                                    const Scope& scope) {
  // What an iteration defines. One that defines nothing still takes time.
  const size_t ops =
      std::max<size_t>(loop.body.size() + loop.carries.size() + (loop.index ? 1 : 0), 1);
  Loop made;
  made.name = loop.name;
  made.lower = lower;
  made.upper = upper;
  made.has_index = loop.index.has_value();
  std::optional<LoopEntry> entry = entry_of(loop, made);
  std::optional<LoopEntry> before;
  for (int64_t i = lower; i < upper; ++i) {
    if (long_loops_ == LongLoops::LeftOut && made.window > 0 && made.written.size() == made.first) {
      left_out_.add(made);
      i = upper - made.window;
    }
    LoopIteration& iteration = made.written.emplace_back();
    iteration.index = i;
    if (!fits(loop.node, ops, 0, true) || !read_iteration(loop, iteration, scope)) {
      if (over_limits_ && before && made.window == 0)
        explain_unlike(loop, *before, *entry);
      return false;
    }
    if (made.window > 0)
      continue;
    std::optional<LoopEntry> next = entry_of(loop, made);
    if (next && next == entry) {
      // A loop of any length keeps in memory what this one's first and last iterations hold. Before
      // the window, an iteration may name any number of earlier ones.
      const uint32_t reach = std::max(next->furthest(), uint32_t{1});
      const WrittenIterations least = kept_.least(lower, upper);
      const auto written = static_cast<uint32_t>(made.written.size());
      const uint32_t first = std::max(written + reach, least.first);
      const uint32_t window = std::max(reach + 1, least.window);
      if (uint64_t{first} + window < made.trips()) {
        made.first = first;
        made.window = window;
      }
    }
    before = std::exchange(entry, std::move(next));
  }
  if (!made.written.empty() && made.last().ops.size() > 0)
    builder_.loop(std::move(made));
  return true;
}

/// Empty if a carry is not a value, which has been reported.
std::optional<ProgramReader::LoopEntry> ProgramReader::entry_of(const LoopText& loop,
                                                                const Loop& made) {
  LoopEntry entry;
  for (const LoopCarry& carry : loop.carries) {
    const auto value = builder_.value_of(carry.value, carry.initial.origin());
    const auto type = builder_.type_of(carry.value, carry.initial.origin());
    if (!value || !type)
      return std::nullopt;
    entry.carried.push_back(
        {LoopEntry::located(made.written, &LoopIteration::values, value->index()),
         LoopEntry::located(made.written, &LoopIteration::buffers,
                            builder_.buffer_of(*value).index()),
         *type});
  }
  return entry;
}

/// Says why all iterations of a loop that exceeds the limits are written out: which carries differ
/// between two of them.
void ProgramReader::explain_unlike(const LoopText& loop, const LoopEntry& before,
                                   const LoopEntry& entry) {
  std::vector<std::string> differ;
  for (size_t c = 0; c < loop.carries.size(); ++c)
    if (before.carried[c] != entry.carried[c])
      differ.push_back(in_quotes(loop.carries[c].name()));
  if (!differ.empty())
    diagnostics_.add(
        loop.node.origin(),
        fmt::format("fori_loop: every iteration is written out, since {} differ{} from one to the "
                    "next (where carries alternate, write two iterations in the body)",
                    fmt::join(differ, ", "), differ.size() == 1 ? "s" : ""));
}

/// The carries before the first iteration; false if one is not a value.
bool ProgramReader::enter(LoopText& loop, const Scope& scope) {
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

/// The value of an id in "carry" or "yield"; empty if there is none.
std::optional<std::string> ProgramReader::read_reference(DocumentNode node, const Scope& scope) {
  const std::optional<std::string> name = read_text(node, "an id", diagnostics_);
  const auto full = name ? resolved(*name, node.origin(), scope) : std::nullopt;
  return full && !is_invalid(*full) ? full : std::nullopt;
}

/// False after an error, which the next iteration would only repeat.
bool ProgramReader::read_iteration(LoopText& loop, LoopIteration& made, const Scope& outside) {
  made.name = with_index(loop.name, made.index);
  made.site_suffix = with_index(outside.site_suffix, made.index);
  const Diagnostics::Note note(diagnostics_, fmt::format(" (in {})", made.name));
  const size_t before = diagnostics_.size();
  const ProgramBuilder::Size begin = builder_.size();
  Scope scope{&outside,       name_in(made.name, ""), made.site_suffix,
              outside.around, &loop.body_ids,         {}};
  scope.around.push_back({loop.lower, loop.upper, made.index});
  for (const LoopCarry& carry : loop.carries)
    define(scope, carry.name(), carry.value, carry.initial.key_origin());
  if (loop.index) {
    OpRequest constant;
    constant.name = scope.prefix + loop.index->text();
    constant.kind = OpKind::Full;
    constant.attributes = index_attributes(made.index);
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
    if (const std::string changed =
            changed_type(*carry.type, *type, mesh_, builder_.checks(), in_quotes(carry.name()),
                         in_quotes(carry.yielded.text()));
        !changed.empty())
      diagnostics_.add(carry.yielded.origin(),
                       fmt::format("fori_loop {}: {}", in_quotes(loop.name), changed));
    next.push_back(*value);
  }
  for (size_t c = 0; c < next.size(); ++c)
    loop.carries[c].value = next[c];
  const ProgramBuilder::Size end = builder_.size();
  made.ops = {begin.ops, end.ops};
  made.values = {begin.values, end.values};
  made.buffers = {begin.buffers, end.buffers};
  return diagnostics_.size() == before;
}

/// The names that the loop would have defined are unknown: using them is no further error.
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
