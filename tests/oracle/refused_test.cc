// Compares our errors with those of JAX for the programs in tests/data/jax (written by
// tools/oracle/refused.py). JAX refuses each program because of one op or one output; we must
// refuse it too, and for the same reason.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "models/base/diagnostics.h"
#include "models/scenario/reader.h"
#include "tests/oracle/corpus.h"

namespace orrery::test {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the scenario of a line, on a ring, with zeros in all arrays. An array's states come from
/// the line.
Json scenario_of(const Json& line) {
  size_t devices = 1;
  for (const auto& [axis, size] : line.at("mesh").items())
    devices *= size.get<size_t>();
  Json arrays = Json::object();
  for (const auto& [name, array] : line.at("arrays").items()) {
    const Dtype dtype = dtype_named(array.at(0).get<std::string>()).value();
    const Json zero = is_complex(dtype)      ? Json::array({0, 0})
                      : dtype == Dtype::Pred ? Json(false)
                                             : Json(0);
    const Shape shape{array.at(1).get<std::vector<int64_t>>()};
    const Json elements(static_cast<size_t>(shape.elements()), zero);
    arrays[name] = {{"local_shape", array.at(1)},
                    {"dtype", array.at(0)},
                    {"per_device", Json(devices, elements)}};
    if (array.size() > 2)
      arrays[name].update(array.at(2));
  }
  return {
      {"orrery", 1},
      {"check_types", line.value("check_types", false)},
      {"cluster",
       {{"devices", devices}, {"topology", "ring"}, {"bandwidth", "50 GB/s"}, {"latency", "1 us"}}},
      {"mesh", line.at("mesh")},
      {"arrays", arrays},
      {"program", line.at("program")},
      {"outputs", line.value("outputs", Json::array())}};
}

/// Maps each kind of JAX's errors to texts of ours: our error must have one of these texts.
const std::map<std::string, std::vector<std::string_view>> kOurs = {
    {"unknown axis", {"expected an axis of the mesh"}},
    {"repeated axis", {"expected each axis once"}},
    {"several axes of pargmax", {"expected one axis"}},
    {"groups", {"expected ranks from", "expected each rank in one group"}},
    {"perm", {"expected each of the ranks", "expected each source", "expected each destination"}},
    {"dimension beyond", {"expected a dimension"}},
    {"axes beyond", {"expected a dimension from", "expected each dimension once"}},
    {"not divisible", {"to be the group size", "to be divisible by the group size"}},
    {"another dtype", {"of one dtype", "to pad with"}},
    {"another shape", {"of one shape", "to pad with"}},
    {"list",
     {"one per dimension of", "that add up to", "expected each dimension", "expected an extent of",
      "in dimension", "expected dimensions of"}},
    {"order", {"expected floats or complex numbers", "expected operands of numbers"}},
    {"contraction", {"expected as many contracting dimensions"}},
    // The following kinds are errors of states.
    {"axes of several states", {"expected an operand of one state", "expected an operand that is"}},
    {"cast from another state", {"expected an operand that is"}},
    {"sum of what is not unreduced", {"expected an operand that is unreduced over"}},
    {"reduced gather of what does not vary", {"expected an operand that is varying over"}},
    {"broadcast of what does not vary", {"expected an operand that is varying over"}},
    {"unreduced operand that would be cast to varying",
     {"expected an operand that is", "expected no operand that is unreduced over",
      "expected operands that are all unreduced over", "expected the other operand to be reduced"}},
    {"reduced operand that would be cast to varying",
     {"expected an operand that is", "to be reduced over exactly the axes"}},
    {"unreduced operand of an op that is not linear",
     {"expected no operand that is unreduced over"}},
    {"unreduced operand beside another",
     {"expected operands that are all unreduced over", "expected the other operand to be reduced"}},
    {"reduced operand beside another", {"expected operands that are all reduced over"}},
    {"boundary", {"expected an output that is invarying over"}},
    {"loop", {"to stay", "to vary over", "not to vary over"}},
    {"done of a value", {"expected a future, the result of a start, got"}},
    {"future read as a value", {"a future that only done may read"}},
};

std::string message_of(const Json& line) {
  try {
    (void)read_scenario("f", scenario_of(line).dump());
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Returns where the error must be: at the output, or at the last op.
std::string place_of(const Json& line) {
  return line.contains("outputs") ? "/outputs/0"
                                  : "/program/" + std::to_string(line.at("program").size() - 1);
}

/// Returns whether the message has the type of an operand as JAX writes it, and names an axis.
bool names_type_and_axis(const Json& line, const std::string& message) {
  bool type = false;
  for (const Json& operand : line.at("operands"))
    type = type || contains(message, operand.get<std::string>());
  bool axis = false;
  for (const auto& [name, size] : line.at("mesh").items())
    axis = axis || contains(message, "over " + name) || contains(message, "over exactly the axes");
  return type && axis;
}

/// Checks that we refuse each program of a file as JAX does. Returns the number of programs by
/// kind.
std::map<std::string, int> refused_as_by_jax(const std::string& file) {
  std::map<std::string, int> kinds;
  for (const std::string& text : lines_of(ORRERY_SOURCE_ROOT "/tests/data/jax/" + file)) {
    const Json line = Json::parse(text);
    CAPTURE(text);
    const std::string message = message_of(line);
    CAPTURE(message);
    const auto kind = line.at("kind").get<std::string>();
    CHECK(contains(message, place_of(line)));
    const std::vector<std::string_view>& ours = kOurs.at(kind);
    CHECK(std::any_of(ours.begin(), ours.end(),
                      [&](std::string_view part) { return contains(message, part); }));
    const bool of_states = line.contains("operands") && kind != "loop" &&
                           kind != "done of a value" && kind != "future read as a value";
    if (of_states)
      CHECK(names_type_and_axis(line, message));
    ++kinds[kind];
  }
  return kinds;
}

int all_of(const std::map<std::string, int>& kinds) {
  int programs = 0;
  for (const auto& of_kind : kinds) {
    CAPTURE(of_kind.first);
    CHECK(of_kind.second >= 10);
    programs += of_kind.second;
  }
  return programs;
}

TEST_CASE("jax corpus: what JAX refuses is refused, at the op that is wrong, for the same reason") {
  const std::map<std::string, int> kinds = refused_as_by_jax("refused-1.jsonl.gz");
  CHECK(kinds.size() == 12);
  CHECK(all_of(kinds) >= 200);
}

TEST_CASE(
    "jax corpus: what JAX refuses for states, loops and futures is refused for the same reason") {
  const std::map<std::string, int> kinds = refused_as_by_jax("refused-2.jsonl.gz");
  CHECK(kinds.size() == 14);
  CHECK(all_of(kinds) >= 100);
}

}  // namespace
}  // namespace orrery::test
