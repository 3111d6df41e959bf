// Programs of which one op is wrong so that JAX refuses it (tests/data/jax, written by
// tools/oracle/refused.py): we refuse that op, too.

#include <fstream>
#include <map>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "models/base/diagnostics.h"
#include "models/scenario/reader.h"
#include "tests/oracle/corpus.h"

namespace orrery::test {
namespace {

using Json = nlohmann::ordered_json;

/// All zeros, on a ring.
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
  }
  return {
      {"orrery", 1},
      {"check_types", false},
      {"cluster",
       {{"devices", devices}, {"topology", "ring"}, {"bandwidth", "50 GB/s"}, {"latency", "1 us"}}},
      {"mesh", line.at("mesh")},
      {"arrays", arrays},
      {"program", line.at("program")},
      {"outputs", Json::array()}};
}

TEST_CASE("jax corpus: what JAX refuses is refused, at the op that is wrong") {
  std::map<std::string, int> kinds;
  for (const std::string& text : lines_of(ORRERY_SOURCE_ROOT "/tests/data/jax/refused-1.jsonl")) {
    const Json line = Json::parse(text);
    CAPTURE(text);
    std::string message;
    try {
      (void)read_scenario("f", scenario_of(line).dump());
    } catch (const InputError& error) {
      message = error.what();
    }
    const std::string at = "/program/" + std::to_string(line.at("program").size() - 1);
    CHECK(message.find(at) != std::string::npos);
    ++kinds[line.at("kind").get<std::string>()];
  }
  int programs = 0;
  for (const auto& [kind, count] : kinds) {
    CHECK(count >= 10);
    programs += count;
  }
  CHECK(kinds.size() == 12);
  CHECK(programs >= 200);
}

}  // namespace
}  // namespace orrery::test
