#include <doctest/doctest.h>

#include "models/mesh/named_sharding.h"

namespace orrery {
namespace {

TEST_CASE("sdy: open dimensions have a question mark") {
  const SdyArray array = {{{{"x", "y"}}, {{}, true}, {{"a"}, true}, {}}};
  CHECK(array.text() == "SdyArray([{'x', 'y'}, {?}, {'a', ?}, {}])");
}

TEST_CASE("sdy: device ids and replicated axes follow, unreduced axes do not") {
  SdyArray array = {{{{"x"}}}};
  array.device_ids = {{LogicalId(1), LogicalId(0)}};
  array.replicated_axes = {"z", "y"};
  array.unreduced_axes = {"u"};
  CHECK(array.text() ==
        "SdyArray([{'x'}], device_ids=(1, 0), replicated_axes=frozenset({'y', 'z'}))");
  array.device_ids = {{LogicalId(0)}};
  array.replicated_axes.clear();
  CHECK(array.text() == "SdyArray([{'x'}], device_ids=(0,))");
}

TEST_CASE("sdy: names of dimensions are as they are, and those of the set are Python strings") {
  SdyArray array = {{{{"x'", "a\\b"}}, {{"c'\"d"}, true}}};
  array.replicated_axes = {"y'", "c'\"d"};
  CHECK(array.text() ==
        "SdyArray([{'x'', 'a\\b'}, {'c'\"d', ?}], replicated_axes=frozenset({'c\\'\"d', "
        "\"y'\"}))");
}

TEST_CASE("sdy: an array that the compiler cuts has open dimensions alone") {
  CHECK(open_array(2).text() == "SdyArray([{?}, {?}])");
  CHECK(open_array(0).text() == "SdyArray([])");
}

}  // namespace
}  // namespace orrery
