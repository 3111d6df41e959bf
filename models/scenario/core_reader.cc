// This part of op_reader.h reads the functions of an mpmd_map, with its other keys.

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "models/program/core_map.h"
#include "models/program/rules.h"
#include "models/scenario/fields.h"
#include "models/scenario/op_reader.h"
#include "models/scenario/program_reader.h"

namespace orrery {

namespace {

constexpr IntegerRange kNotNegative = {0, std::numeric_limits<int64_t>::max()};
constexpr IntegerRange kAtLeastOne = {1, std::numeric_limits<int64_t>::max()};
constexpr IntegerRange kAmount = {1, 1'000'000'000};

/// Returns the words that a body's op may have.
std::vector<std::string_view> body_words() {
  std::vector<std::string_view> words = {"copy", "signal", "wait"};
  for (const OpRules& each : all_rules())
    if (is_body_op(each.kind))
      words.push_back(each.name);
  return words;
}

class Reader {
 public:
  Reader(Fields& fields, Diagnostics& diagnostics) : fields_(fields), diagnostics_(diagnostics) {}

  std::optional<SharedCoreMap> read() {
    const size_t before = diagnostics_.size();
    const std::optional<DocumentNode> functions = fields_.optional("functions");
    if (const auto out = fields_.required("out"))
      read_out(*out);
    if (const auto scratch = fields_.optional("scratch"))
      read_scratch(*scratch);
    if (const auto aliases = fields_.optional("aliases"))
      read_aliases(*aliases);
    if (const auto estimate = fields_.optional("cost_estimate"))
      read_estimate(*estimate);
    if (functions && is_list(*functions, "a list of functions", diagnostics_))
      for (const DocumentNode function : *functions)
        read_function(function);
    if (!functions || diagnostics_.size() != before)
      return std::nullopt;
    return SharedCoreMap(std::make_shared<const CoreMap>(std::move(map_)));
  }

 private:
  std::optional<std::string> name(Fields& fields, std::string_view key) {
    const auto node = fields.required(key);
    auto name = node ? read_text(*node, "a name", diagnostics_) : std::nullopt;
    if (name && name->empty())
      expected(*node, "a name", diagnostics_);
    return name;
  }

  std::optional<int64_t> count(Fields& fields, std::string_view key) {
    const auto node = fields.required(key);
    return node ? read_integer(*node, "a whole number", kAtLeastOne, diagnostics_) : std::nullopt;
  }

  std::optional<Shape> shape(DocumentNode node) {
    auto dims = read_integers(node, "a whole number", kNotNegative, diagnostics_);
    return dims ? std::optional(Shape(std::move(*dims))) : std::nullopt;
  }

  void read_out(DocumentNode list) {
    if (!is_list(list, "a list of the types of the results", diagnostics_))
      return;
    for (const DocumentNode node : list) {
      if (!is_object(node, R"(an object with "shape" and "dtype")", diagnostics_))
        continue;
      Fields fields(node, diagnostics_);
      CoreOutput out;
      if (const auto given = fields.required("shape"))
        out.shape = shape(*given).value_or(Shape());
      if (const auto given = fields.required("dtype"))
        out.dtype = read_dtype(*given, diagnostics_).value_or(Dtype::F32);
      fields.finish();
      map_.out.push_back(std::move(out));
    }
  }

  void read_scratch(DocumentNode node) {
    map_.scratch_is_list = node.kind() == DocumentNode::Kind::List;
    if (!map_.scratch_is_list &&
        !is_object(node, "an object with a name for each scratch, or a list", diagnostics_))
      return;
    for (const DocumentNode entry : node)
      read_one_scratch(entry, map_.scratch_is_list ? fmt::format("scratch{}", map_.scratch.size())
                                                   : entry.key());
  }

  void read_one_scratch(DocumentNode node, std::string name) {
    if (!is_object(node, R"(an object with "shape" and "dtype", or {"semaphore": true})",
                   diagnostics_))
      return;
    Fields fields(node, diagnostics_);
    CoreScratch scratch;
    scratch.name = std::move(name);
    if (scratch.name.empty())
      diagnostics_.add(node.key_origin(), "expected a name, got \"\"");
    if (const auto given = fields.optional("semaphore")) {
      const std::optional<bool> semaphore = read_boolean(*given, diagnostics_);
      if (!semaphore)
        return;
      scratch.semaphore = *semaphore;
    }
    const auto dims = scratch.semaphore ? fields.optional("shape") : fields.required("shape");
    if (dims)
      scratch.shape = shape(*dims).value_or(Shape());
    if (scratch.semaphore && scratch.shape.rank() > 1)
      diagnostics_.add(dims->origin(),
                       fmt::format("expected a shape of one dimension for semaphores, got {}",
                                   scratch.shape.text()));
    if (!scratch.semaphore) {
      if (const auto dtype = fields.required("dtype"))
        scratch.dtype = read_dtype(*dtype, diagnostics_).value_or(Dtype::F32);
      if (const auto space = fields.optional("space"))
        scratch.space = read_space(*space);
      if (const auto core = fields.optional("core"))
        scratch.core = read_text(*core, "the name of a mesh", diagnostics_);
    }
    fields.finish();
    map_.scratch.push_back(std::move(scratch));
  }

  CoreSpace read_space(DocumentNode node) {
    const std::vector<std::string_view> words(kCoreSpaces.begin(), kCoreSpaces.end());
    const auto word = read_word(node, words, diagnostics_);
    if (!word)
      return CoreSpace::Any;
    return static_cast<CoreSpace>(std::find(words.begin(), words.end(), *word) - words.begin());
  }

  void read_aliases(DocumentNode node) {
    if (!is_object(node, "an object with the output of each input such as {\"0\": 0}",
                   diagnostics_))
      return;
    for (const DocumentNode entry : node) {
      const std::string& key = entry.key();
      int64_t input = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), input);
      if (error != std::errc() || end != key.data() + key.size() || std::to_string(input) != key)
        diagnostics_.add(
            entry.key_origin(),
            fmt::format("expected the number of an operand as key, got {}", in_quotes(key)));
      else if (const auto output =
                   read_integer(entry, "an output number", kNotNegative, diagnostics_))
        map_.aliases.emplace_back(input, *output);
    }
  }

  void read_estimate(DocumentNode node) {
    if (!is_object(node, R"(an object with "flops", "transcendentals" and "bytes_accessed")",
                   diagnostics_))
      return;
    Fields fields(node, diagnostics_);
    CoreEstimate estimate;
    const auto read = [&](std::string_view key, bool required, int64_t& to) {
      const auto given = required ? fields.required(key) : fields.optional(key);
      if (given)
        to = read_integer(*given, "a whole number", kNotNegative, diagnostics_).value_or(0);
    };
    read("flops", true, estimate.flops);
    read("transcendentals", true, estimate.transcendentals);
    read("bytes_accessed", true, estimate.bytes_accessed);
    read("remote_bytes_transferred", false, estimate.remote_bytes_transferred);
    fields.finish();
    map_.estimate = estimate;
  }

  void read_function(DocumentNode node) {
    if (!is_object(node, "a function such as {\"mesh\": {...}, \"body\": [...]}", diagnostics_))
      return;
    Fields fields(node, diagnostics_);
    CoreFunction function;
    if (const auto mesh = fields.required("mesh"))
      read_mesh(*mesh, function.mesh);
    if (const auto body = fields.optional("body");
        body && is_list(*body, "a list of body ops", diagnostics_))
      for (const DocumentNode op : *body)
        read_op(op, function.body);
    fields.finish();
    map_.functions.push_back(std::move(function));
  }

  void read_mesh(DocumentNode node, CoreMesh& mesh) {
    if (!is_object(node, R"(an object with "type", "name", "core_axis" and "cores")", diagnostics_))
      return;
    Fields fields(node, diagnostics_);
    const std::vector<std::string_view> types(kCoreTypes.begin(), kCoreTypes.end());
    const auto given = fields.required("type");
    const auto type = given ? read_word(*given, types, diagnostics_) : std::nullopt;
    if (type)
      mesh.type =
          static_cast<CoreType>(std::find(types.begin(), types.end(), *type) - types.begin());
    mesh.name = name(fields, "name").value_or("");
    mesh.axes.push_back(
        {name(fields, "core_axis").value_or(""), count(fields, "cores").value_or(1)});
    if (mesh.type == CoreType::Vector)
      mesh.axes.push_back(
          {name(fields, "subcore_axis").value_or(""), count(fields, "subcores").value_or(1)});
    if (type)  // else it is not known which keys are right
      fields.finish();
  }

  /// Reads "in0", or a row of it: ["in0", {"row": 3}], ["in0", {"row": "c"}].
  std::optional<CoreRef> read_ref(DocumentNode node) {
    constexpr const char* kForm = R"(a ref such as "in0" or ["in0", {"row": 3}])";
    if (node.kind() != DocumentNode::Kind::List) {
      auto name = read_text(node, kForm, diagnostics_);
      return name ? std::optional(CoreRef{std::move(*name)}) : std::nullopt;
    }
    std::vector<DocumentNode> parts;
    for (const DocumentNode part : node)
      parts.push_back(part);
    if (parts.size() != 2 || parts[0].kind() != DocumentNode::Kind::Text ||
        parts[1].kind() != DocumentNode::Kind::Object) {
      expected(node, kForm, diagnostics_);
      return std::nullopt;
    }
    Fields fields(parts[1], diagnostics_);
    const auto row = fields.required("row");
    fields.finish();
    if (!row)
      return std::nullopt;
    CoreRef ref{parts[0].text(), CoreRow()};
    if (row->kind() == DocumentNode::Kind::Text) {
      ref.row->axis = row->text();
      return ref;
    }
    if (row->kind() != DocumentNode::Kind::Number) {
      expected(*row, "the number of a row, or the name of an axis", diagnostics_);
      return std::nullopt;
    }
    const auto number = read_integer(*row, "a row number", kNotNegative, diagnostics_);
    if (!number)
      return std::nullopt;
    ref.row->number = *number;
    return ref;
  }

  void add_ref(Fields& fields, std::string_view key, std::vector<CoreRef>& refs) {
    if (const auto node = fields.required(key))
      if (auto ref = read_ref(*node))
        refs.push_back(std::move(*ref));
  }

  /// Reads one ref or a list of them. A list of a name and an object is one ref, a row.
  void add_refs(Fields& fields, std::vector<CoreRef>& refs) {
    const auto node = fields.required("of");
    if (!node)
      return;
    bool several = node->kind() == DocumentNode::Kind::List;
    if (several)
      for (const DocumentNode part : *node)
        several = several && part.kind() != DocumentNode::Kind::Object;
    if (!several) {
      if (auto ref = read_ref(*node))
        refs.push_back(std::move(*ref));
      return;
    }
    for (const DocumentNode item : *node)
      if (auto ref = read_ref(item))
        refs.push_back(std::move(*ref));
  }

  void read_op(DocumentNode node, std::vector<CoreOp>& body) {
    if (!is_object(node, R"(an op such as {"op": "copy", "from": "in0", "to": "out0"})",
                   diagnostics_))
      return;
    Fields fields(node, diagnostics_);
    const auto given = fields.required("op");
    const auto word =
        given ? read_text(*given, "an op such as \"copy\"", diagnostics_) : std::nullopt;
    if (!word)
      return;
    CoreOp op;
    if (*word == "signal" || *word == "wait") {
      op.kind = *word == "signal" ? CoreOp::Kind::Signal : CoreOp::Kind::Wait;
      add_ref(fields, "sem", op.of);
      if (const auto amount = fields.optional(op.kind == CoreOp::Kind::Signal ? "by" : "for"))
        op.amount = read_integer(*amount, "a whole number", kAmount, diagnostics_).value_or(1);
    } else if (*word == "copy") {
      add_ref(fields, "from", op.of);
      add_to(fields, op);
    } else if (!read_local(*word, *given, fields, op)) {
      return;
    }
    fields.finish();
    body.push_back(std::move(op));
  }

  void add_to(Fields& fields, CoreOp& op) {
    if (const auto to = fields.required("to"))
      op.to = read_ref(*to);
  }

  bool read_local(const std::string& word, DocumentNode at, Fields& fields, CoreOp& op) {
    const std::optional<OpName> named = op_named(word);
    if (!named || named->issue != Issue::Sync || !is_body_op(named->kind)) {
      const std::vector<std::string_view> words = body_words();
      const bool is_op =
          named || word == kLoopOp || word == kGroupOp || word == kToGroupsOp || word == kToMeshOp;
      diagnostics_.add(
          at.origin(),
          is_op ? fmt::format("expected an op of a body, got {}, which is none; a body "
                              "has copies, signals, waits and a few local ops",
                              in_quotes(word))
                : fmt::format("unknown op {}{}", in_quotes(word), did_you_mean(word, words)));
      return false;
    }
    op.kind = CoreOp::Kind::Local;
    op.op = named->kind;
    const OpRules& of_op = rules(named->kind);
    if (of_op.most_operands > 0)
      add_refs(fields, op.of);
    for (const Parameter& parameter : of_op.parameters)
      if (auto value = read_parameter(fields, parameter, diagnostics_))
        op.attributes.set(std::string(parameter.name), std::move(*value));
    if ((op.op == OpKind::AxisIndex || op.op == OpKind::AxisSize) &&
        !op.attributes.has("axis_name"))
      fields.required("axis_name");
    add_to(fields, op);
    return true;
  }

  Fields& fields_;
  Diagnostics& diagnostics_;
  CoreMap map_;
};

}  // namespace

std::optional<SharedCoreMap> read_core_map(Fields& fields, Diagnostics& diagnostics) {
  return Reader(fields, diagnostics).read();
}

}  // namespace orrery
