// Compares mpmd_maps with Pallas (tests/data/jax/mpmd-map-1.jsonl.gz, written by
// tools/oracle/mpmd_map.py): the values of one function by JAX's interpreters, the types of several
// functions that its checks accept, and the errors of what they refuse.

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
#include "verifier/run.h"

namespace orrery::test {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the elements of ["exact", dtype, shape, hexadecimal bits] as numbers.
Json bits_of(const Json& result) {
  const Dtype dtype = dtype_named(result.at(1).get<std::string>()).value();
  const auto digits = static_cast<size_t>(2 * itemsize(dtype).count());
  const auto text = result.at(3).get<std::string>();
  Json bits = Json::array();
  for (size_t at = 0; at < text.size(); at += digits)
    bits.push_back(std::stoull(text.substr(at, digits), nullptr, 16));
  return bits;
}

/// Returns the scenario of a line, with the expectation of JAX's values if the line has them.
std::string scenario_text(const Json& line) {
  Json scenario = line.at("scenario");
  if (line.contains("results"))
    for (const auto& [name, result] : line.at("results").items())
      scenario["expect"].push_back(
          {{"values", {{name, Json::array({bits_of(result)})}}}, {"encoding", "bits"}});
  return scenario.dump();
}

/// Maps each kind of JAX's errors to texts of ours: our error must have one of these.
const std::map<std::string, std::vector<std::string_view>> kOurTexts = {
    {"no function", {"expected at least one mesh and function, got []"}},
    {"core axis", {"of one core axis and as many cores, got"}},
    {"cores", {"of one core axis and as many cores, got"}},
    {"meshes of one type", {"expected a scalar and a vector mesh together, got two"}},
    {"third mesh", {"expected a scalar and a vector mesh together, got two"}},
    {"tensor meshes", {"a tensor mesh runs alone"}},
    {"tensor mesh and subcore mesh", {"a tensor mesh runs alone"}},
    {"scratch without core", {"expected \"core\", the mesh that has it"}},
    {"cost estimate", {"expected a whole number", "missing key"}},
    {"unbound axis", {"expected an axis of the mesh"}},
    {"parameter", {"expected"}},
    {"result", {"expected a ref of"}},
};

TEST_CASE(
    "jax corpus: mpmd_maps have the values of Pallas' interpreters, its types and its errors") {
  size_t values = 0;
  size_t accepted = 0;
  std::map<std::string, size_t> refused;
  for (const std::string& text :
       lines_of(ORRERY_SOURCE_ROOT "/tests/data/jax/mpmd-map-1.jsonl.gz")) {
    CAPTURE(text);
    const Json line = Json::parse(text);
    if (line.contains("error")) {
      const auto kind = line.at("kind").get<std::string>();
      ++refused[kind];
      std::string message;
      try {
        (void)read_scenario("f", scenario_text(line));
      } catch (const InputError& error) {
        message = error.what();
      }
      CAPTURE(message);
      const std::vector<std::string_view>& ours = kOurTexts.at(kind);
      CHECK(std::any_of(ours.begin(), ours.end(), [&](std::string_view part) {
        return message.find(part) != std::string::npos;
      }));
      continue;
    }
    const Report report = run(read_scenario("f", scenario_text(line)), {});
    CHECK(report.holds());
    if (line.contains("results")) {
      ++values;
      continue;
    }
    ++accepted;
    const Program& program = report.scenario->program;
    for (const ValueId output : program.outputs)
      CHECK(std::string(orrery::name(program.value(output).type.dtype)) +
                program.value(output).type.shape.text() ==
            line.at("types").at(program.value(output).name).get<std::string>());
  }
  CHECK(values >= 120);
  CHECK(accepted >= 25);
  CHECK(refused.size() == kOurTexts.size());
}

}  // namespace
}  // namespace orrery::test
