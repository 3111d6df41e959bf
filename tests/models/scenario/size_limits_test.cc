#include "models/scenario/size_limits.h"

#include <doctest/doctest.h>

#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::Small;

/// Returns the message that refuses the text under `limits`; "" if the text is read.
std::string refusal(const std::string& text, const Limits& limits) {
  try {
    (void)read_scenario("f", text, limits);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST_CASE("limits: each has a name and a range") {
  for (const LimitInfo& limit : all_limits()) {
    CAPTURE(limit.name);
    CHECK(Limits().*limit.value <= limit.most);
    CHECK(beyond(Limits(), limit.value, "more").find("--limit " + std::string(limit.name)) !=
          std::string::npos);
  }
  CHECK(all_limits().size() * sizeof(int64_t) == sizeof(Limits));  // none is left out
}

TEST_CASE("limits: an input at the limit is read, one above is refused by the limit's name") {
  struct Row {
    int64_t Limits::*limit;
    int64_t enough;  // for the scenario below
    std::string error;
  };
  Small s;
  // There are 4 devices, 2 links, and 2 ops on 4 devices. A link is on level 4, the 35th value is
  // the name, and the longest text is "bandwidth".
  s.program = R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x"},
{"id": "q", "op": "add", "of": ["r", "r"]}])";
  s.cluster = R"({"devices": 4, "links": [{"from": 0, "to": 1}, {"from": 1, "to": 0}],
"bandwidth": "1 B/s", "latency": "0 s"})";
  const std::string text = s.text();
  const Row rows[] = {
      {&Limits::file, static_cast<int64_t>(text.size()),
       "f: expected at most 347 B in a file, got 348 B (--limit file=SIZE allows more)"},
      {&Limits::nesting, 4,
       "f:2:37: /cluster/links: expected at most 3 levels of nesting, got more (--limit nesting=N "
       "allows more)"},
      {&Limits::values, 35,
       "f:8:9: expected at most 34 values in a file, got more (--limit values=N allows more)"},
      {&Limits::text, 9,
       "f:3:1: /cluster: expected at most 8 B in a text, got 9 B (--limit text=SIZE allows more)"},
      {&Limits::devices, 4,
       "f:2:24: /cluster/devices: expected at most 3 devices, got 4 (--limit devices=N allows "
       "more)\n"
       "f:4:9: /mesh: expected at most 3 devices, got 4 (--limit devices=N allows more)"},
      {&Limits::links, 2,
       "f:2:36: /cluster/links: expected at most 1 links, got 2 (--limit links=N allows more)"},
      {&Limits::ops, 2,
       "f:6:12: /program: expected at most 1 ops, got 2 (--limit ops=N allows more)"},
      {&Limits::device_ops, 8,
       "f:6:12: /program: expected at most 7 ops over all devices, got 8 on 4 devices (--limit "
       "device_ops=N allows more)"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.error);
    Limits limits;
    limits.*row.limit = row.enough;
    CHECK(refusal(text, limits) == "");
    --(limits.*row.limit);
    CHECK(refusal(text, limits) == row.error);
  }
}

TEST_CASE("bounds: dimensions of an array, and axes of a mesh") {
  const auto refused = [](const std::string& mesh, const std::string& arrays,
                          const std::string& more = R"("name": "many")") {
    Small s;
    s.mesh = mesh;
    s.arrays = arrays;
    s.program = "[]";
    s.more = more;
    return refusal(s.text(), Limits());
  };
  const auto axes = [](int count) {
    std::string mesh;
    for (int i = 0; i < count; ++i)
      mesh += (mesh.empty() ? "{" : ", ") + ("\"a" + std::to_string(i)) + "\": 1";
    return mesh + "}";
  };
  const auto array = [](int dimensions) {
    std::string shape = "1";
    for (int i = 1; i < dimensions; ++i)
      shape += ", 1";
    return R"({"a": {"shape": [)" + shape + R"(], "dtype": "s8"}})";
  };
  CHECK(refused(axes(64), array(64)) == "");
  CHECK(refused(axes(64), array(65)) ==
        "f:4:27: /arrays/a/shape: expected at most 64 dimensions, got 65");
  CHECK(refused(axes(65), array(64)) == "f:3:9: /mesh: expected at most 64 axes, got 65");
  CHECK(refused(axes(64), array(1),
                R"("transform": {"batch": {"axis_name": "i", "in_axes": {"a": 0}}})") ==
        "f:6:38: /transform/batch/axis_name: expected at most 64 axes with that of the batch, got "
        "65");
}

TEST_CASE("bounds: both sizes of a message have one unit") {
  Limits limits;
  limits.text = 1024;
  CHECK(beyond(limits, &Limits::text, 2000) ==
        "expected at most 1024 B in a text, got 2000 B (--limit text=SIZE allows more)");
  CHECK(beyond(limits, &Limits::text, 2048) ==
        "expected at most 1 KiB in a text, got 2 KiB (--limit text=SIZE allows more)");
}

}  // namespace
}  // namespace orrery
