#include "tests/oracle/corpus.h"

#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>
#include <zlib.h>

#include "models/array/text.h"
#include "models/program/rules.h"

namespace orrery::test {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kComparisons = {"moved", "exact", "fold", "bound"};
constexpr std::array<std::string_view, 3> kTopologies = {"ring", "fully_connected", "switch"};

void require(bool condition, const std::string& what) {
  if (!condition)
    throw std::runtime_error("a corpus line: " + what);
}

/// Returns the tensors of all devices from their bits in hexadecimal, without separators.
std::vector<Tensor> tensors(const std::string& dtype_text, const std::vector<int64_t>& extents,
                            std::string_view bits) {
  const std::optional<Dtype> dtype = dtype_named(dtype_text);
  require(dtype.has_value(), "unknown dtype " + dtype_text);
  const bool complex = is_complex(*dtype);
  const auto digits = static_cast<size_t>(2 * itemsize(part_dtype(*dtype)).count());
  const Shape shape{extents};
  std::vector<Tensor> result;
  while (!bits.empty()) {
    Tensor tensor = complex ? parts(Tensor(*dtype, shape)) : Tensor(*dtype, shape);
    require(bits.size() >= digits * static_cast<size_t>(tensor.elements()), "too few bits");
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      uint64_t word = 0;
      const char* const end = bits.data() + digits;
      require(std::from_chars(bits.data(), end, word, 16).ptr == end, "a digit is not one");
      set_element_bits(tensor, i, word);
      bits.remove_prefix(digits);
    }
    result.push_back(complex ? joined(tensor) : std::move(tensor));
  }
  return result;
}

/// Returns the bits of the elements of each device, as a scenario has them.
Json bits_of(const std::vector<Tensor>& per_device) {
  Json lists = Json::array();
  for (const Tensor& tensor : per_device) {
    Json& list = lists.emplace_back(Json::array());
    if (is_complex(tensor.dtype())) {
      const Tensor both = parts(tensor);
      for (int64_t i = 0; i < both.elements(); i += 2)
        list.push_back({element_bits(both, i), element_bits(both, i + 1)});
    } else {
      for (int64_t i = 0; i < tensor.elements(); ++i)
        list.push_back(element_bits(tensor, i));
    }
  }
  return lists;
}

/// Returns one tensor per device. A single tensor is copied to all devices; if there is none, each
/// device gets an empty tensor.
std::vector<Tensor> on_all(std::vector<Tensor> tensors, size_t devices, const std::string& dtype,
                           const std::vector<int64_t>& extents) {
  if (tensors.empty())
    tensors.emplace_back(dtype_named(dtype).value(), Shape{extents});
  if (tensors.size() == 1)
    tensors.resize(devices, Tensor(tensors.front()));
  require(tensors.size() == devices, "a number of elements that is not the devices'");
  return tensors;
}

Json cluster(size_t devices, size_t index) {
  Json flops;
  for (const Dtype dtype : all_dtypes())
    flops[name(dtype)] = "1 TFLOP/s";
  return {{"devices", devices},           {"topology", kTopologies[index % kTopologies.size()]},
          {"bandwidth", "50 GB/s"},       {"latency", "1 us"},
          {"memory_bandwidth", "1 TB/s"}, {"flops", flops}};
}

/// Returns the ops, where each op that reduces over a group names the algorithm one_shot.
Json folding_by_one_shot(Json ops) {
  for (Json& op : ops) {
    const auto named = op.at("op").get<std::string>();
    const std::optional<OpName> found = op_named(named);
    require(found.has_value(), "unknown op " + named);
    const OpRules& of = rules(found->kind);
    if (of.family == Family::Collective && of.form.combine != Combine::None)
      op["algorithm"] = "one_shot";
  }
  return ops;
}

bool is_complex_named(const std::string& dtype) {
  const std::optional<Dtype> found = dtype_named(dtype);
  require(found.has_value(), "unknown dtype " + dtype);
  return is_complex(*found);
}

/// Returns whether the results of an op are complex. `operand` says whether the operand that the op
/// works on is complex.
bool has_complex_result(OpKind kind, const Json& op, bool operand) {
  if (op.contains("new_dtype"))
    return is_complex_named(op.at("new_dtype"));
  switch (kind) {
    case OpKind::Real:
    case OpKind::Imag:
    case OpKind::Eq:
    case OpKind::Ne:
      return false;
    case OpKind::Conj:
    case OpKind::Complex:
      return true;
    default:
      return operand;
  }
}

}  // namespace

std::vector<ForwardOp> forward_ops(std::string_view line) {
  const Json given = Json::parse(line);
  std::map<std::string, bool> complex;  // by the name of the value
  for (const auto& [id, array] : given.at("arrays").items())
    complex[id] = is_complex_named(array.at(0));
  std::vector<ForwardOp> ops;
  for (const Json& op : given.at("program")) {
    const std::optional<OpName> found = op_named(op.at("op").get<std::string>());
    require(found.has_value(), "unknown op " + op.at("op").get<std::string>());
    bool operand = op.contains("dtype") && is_complex_named(op.at("dtype"));
    if (op.contains("of")) {
      const Json& of = op.at("of");
      const size_t first = found->kind == OpKind::SelectN ? 1 : 0;
      operand = complex.at((of.is_array() ? of.at(first) : of).get<std::string>());
    }
    const bool result = has_complex_result(found->kind, op, operand);
    const Json& id = op.at("id");
    for (const Json& one : id.is_array() ? id : Json::array({id}))
      complex[one.get<std::string>()] = result;
    if (found->kind != OpKind::Done)
      ops.push_back({found->kind, operand});
  }
  return ops;
}

std::string_view name(Comparison comparison) {
  return kComparisons[static_cast<size_t>(comparison)];
}

std::vector<Numerics> numerics_of(std::string_view line) {
  if (Json::parse(line).at("numerics") == "ieee")
    return {Numerics::XlaCpu, Numerics::Ieee};
  return {Numerics::XlaCpu};
}

Case read_case(std::string_view line, size_t index, Numerics numerics) {
  const Json given = Json::parse(line);
  size_t devices = 1;
  for (const auto& [axis, size] : given.at("mesh").items())
    devices *= size.get<size_t>();
  Json scenario = {{"orrery", 1},
                   {"check_types", given.value("check_types", false)},
                   {"cluster", cluster(devices, index)},
                   {"mesh", given.at("mesh")},
                   {"arrays", Json::object()},
                   {"program", given.at("program")},
                   {"outputs", Json::array()}};
  if (given.contains("transform"))
    scenario["transform"] = given.at("transform");
  if (given.contains("then"))
    scenario["then"] = given.at("then");
  if (numerics == Numerics::XlaCpu) {
    scenario["numerics"] = "xla-cpu";
    scenario["program"] = folding_by_one_shot(given.at("program"));
  }
  for (const auto& [id, array] : given.at("arrays").items()) {
    const auto dtype = array.at(0).get<std::string>();
    const auto shape = array.at(1).get<std::vector<int64_t>>();
    const auto bits = array.at(2).get<std::string>();
    scenario["arrays"][id] = {
        {"local_shape", shape},
        {"dtype", dtype},
        {"encoding", "bits"},
        {"per_device", bits_of(on_all(tensors(dtype, shape, bits), devices, dtype, shape))}};
    if (array.size() > 3 && array.at(3).is_object())
      scenario["arrays"][id].update(array.at(3));
    else if (array.size() > 3)
      scenario["arrays"][id]["varying"] = array.at(3);
  }
  Case made{{}, numerics, {}, given.contains("transform"), {}};
  for (const auto& [id, result] : given.at("results").items()) {
    const auto comparison = result.at(0).get<std::string>();
    const auto dtype = result.at(1).get<std::string>();
    const auto shape = result.at(2).get<std::vector<int64_t>>();
    const auto bits = result.at(3).get<std::string>();
    const auto* const known = std::find(kComparisons.begin(), kComparisons.end(), comparison);
    require(known != kComparisons.end(), "unknown comparison " + comparison);
    made.expected.push_back({id, static_cast<Comparison>(known - kComparisons.begin()),
                             on_all(tensors(dtype, shape, bits), devices, dtype, shape)});
    scenario["outputs"].push_back(id);
  }
  if (given.contains("types"))
    for (const auto& [id, type] : given.at("types").items())
      made.types.push_back({id, type.get<std::string>()});
  made.scenario = scenario.dump();
  return made;
}

std::string with_expectation(const Case& made, const Expected& expected) {
  Json scenario = Json::parse(made.scenario);
  scenario["expect"] = Json::array(
      {{{"values", {{expected.name, bits_of(expected.per_device)}}}, {"encoding", "bits"}}});
  return scenario.dump(1) + "\n";
}

std::vector<std::string> lines_of(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (file == nullptr)
    throw std::runtime_error("cannot read " + path);
  std::vector<std::string> lines;
  std::string line;
  std::array<char, 1 << 16> part{};
  while (gzgets(file.get(), part.data(), static_cast<int>(part.size())) != nullptr) {
    line += part.data();
    if (line.back() != '\n')
      continue;
    line.pop_back();
    lines.push_back(std::move(line));
    line.clear();
  }
  int code = Z_OK;
  gzerror(file.get(), &code);
  if (code != Z_OK || !line.empty())
    throw std::runtime_error(path + " ends within a line");
  return lines;
}

}  // namespace orrery::test
