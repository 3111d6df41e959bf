// Tests the errors in expectations.

#include <doctest/doctest.h>

#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::Case;
using test::refusal;
using test::Small;

TEST_CASE("errors: expectations") {
  const Case cases[] = {
      {"{}", "f:6:11: /expect: expected a list of expectations, got an object"},
      {"[1]",
       "f:6:12: /expect/0: expected an expectation such as {\"close\": [\"x\", \"y\"]}, "
       "got 1"},
      {"[{}]",
       "f:6:12: /expect/0: expected one of \"equal\", \"close\", \"values\", "
       "\"makespan\", \"peak_memory\", \"buffered_messages\", \"holds\", got none"},
      {R"([{"equals": ["a", "r"]}])",
       "f:6:13: /expect/0/equals: unknown key \"equals\"; did you mean \"equal\"?"},
      {R"([{"equal": ["r", "r"], "close": ["r", "r"]}])",
       "f:6:12: /expect/0: expected one of \"equal\", \"close\", \"values\", \"makespan\", "
       "\"peak_memory\", \"buffered_messages\", \"holds\", got several"},
      {R"([{"equal": ["a", "r"], "devices": "all"}])",
       "f:6:45: /expect/0/devices: expected \"same\" or \"common\", got \"all\""},
      {R"([{"holds": ["no_leak"], "devices": "common"}])",
       "f:6:35: /expect/0/devices: unknown key \"devices\"; expected one of \"equal\", \"close\", "
       "\"values\", \"makespan\", \"peak_memory\", \"buffered_messages\", \"holds\""},
      {R"([{"equal": "r"}])", "f:6:22: /expect/0/equal: expected a list of ids, got \"r\""},
      {R"([{"equal": ["r"]}])", "f:6:22: /expect/0/equal: expected at least 2 ids, got 1"},
      {R"([{"close": ["r", "q"]}])",
       "f:6:28: /expect/0/close/1: expected the id of a value, got \"q\""},
      {R"([{"makespan": "2 ms"}])",
       "f:6:25: /expect/0/makespan: expected an object with "
       "\"at_most\", \"at_least\" or both, got \"2 ms\""},
      {R"([{"makespan": {}}])",
       "f:6:25: /expect/0/makespan: expected \"at_most\", \"at_least\" or "
       "both, got neither"},
      {R"([{"makespan": {"at_least": "2 us", "at_most": "1999 ns"}}])",
       "f:6:25: /expect/0/makespan: expected \"at_least\" to be no more than \"at_most\", "
       "1999 ns, got 2 us"},
      {R"([{"makespan": {"at_least": "2 us", "at_most_ns": 2000}}])", ""},
      {R"([{"makespan": {"at_most": "2 MB"}}])",
       "f:6:37: /expect/0/makespan/at_most: expected a time such as \"1 us\", got \"2 MB\""},
      {R"([{"peak_memory": {"at_least": "2 ms"}}])",
       "f:6:41: /expect/0/peak_memory/at_least: expected a size such as \"80 GiB\", got \"2 ms\""},
      {R"([{"buffered_messages": 1}])",
       "f:6:34: /expect/0/buffered_messages: expected an object with \"at_most\", got 1"},
      {R"([{"buffered_messages": {}}])",
       "f:6:34: /expect/0/buffered_messages: missing key \"at_most\""},
      {R"([{"buffered_messages": {"at_most": -1}}])",
       "f:6:46: /expect/0/buffered_messages/at_most: expected a number of messages of at least 0, "
       "got -1"},
      {R"([{"holds": ["deadlock_fre", 1]}])",
       "f:6:23: /expect/0/holds/0: expected a property (one of \"deadlock_free\", \"race_free\", "
       "\"no_leak\", \"proved\"), got \"deadlock_fre\"; did you mean \"deadlock_free\"?\n"
       "f:6:39: /expect/0/holds/1: expected a property (one of \"deadlock_free\", \"race_free\", "
       "\"no_leak\", \"proved\"), got 1"},
      {R"([{"holds": "proved"}])",
       "f:6:22: /expect/0/holds: expected a list of properties, got \"proved\""},
      {R"([{"equal": ["r", "q\u001b[2J"]}])",
       "f:6:28: /expect/0/equal/1: expected printable characters, got a control character"},
      {R"([{"holds": []}])",
       "f:6:22: /expect/0/holds: expected at least one property (of \"deadlock_free\", "
       "\"race_free\", \"no_leak\", \"proved\"), got none"},
      {R"([{"equal": ["r", "r"]}])",
       "f:6:28: /expect/0/equal/1: expected another id: \"r\" is compared already"},
      {R"([{"values": {}}])",
       "f:6:23: /expect/0/values: expected the id of a value as key, got none"},
      {R"([{"values": {"q": []}}])",
       "f:6:24: /expect/0/values/q: expected the id of a value, got \"q\""},
      {R"([{"values": {"r": [[1, 2]]}}])",
       "f:6:29: /expect/0/values/r: expected 4 lists, one per device, got 1"},
      {R"([{"values": {"r": [[1, 2], [1, 2], [1, 2], null]}}])",
       "f:6:54: /expect/0/values/r/3: expected a list of elements, since device 3 has the value, "
       "got "
       "null"},
      {R"([{"values": {"r": {"dtype": "s32", "shape": [3], "per_device": []}}}])",
       "f:6:39: /expect/0/values/r/dtype: expected f32, the dtype of the value, got \"s32\"\n"
       "f:6:55: /expect/0/values/r/shape: expected [2], the shape of the value on a device, got "
       "[3]"},
      {R"([{"values": {"r": {"dtype": "f32"}}}])",
       "f:6:29: /expect/0/values/r: missing key \"per_device\""},
      {R"([{"values": []}])",
       "f:6:23: /expect/0/values: expected an object with one list of elements per device for each "
       "id, got a list"},
  };
  for (const Case& c : cases) {
    Small s;
    s.more = "\"expect\": " + c.part;
    CAPTURE(c.part);
    CHECK(refusal(s.text()) == c.error);
  }
}

TEST_CASE("errors: expectations of values that cannot be compared") {
  Small s;
  s.program = R"([{"id": "f", "op": "psum_start", "of": "a", "axis_name": "x"},
{"id": "r", "op": "done", "of": "f"}, {"id": "i", "op": "axis_index", "axis_name": "x"}])";
  s.more = R"("expect": [{"equal": ["r", "f"]}, {"equal": ["r", "i"]}])";
  CHECK(refusal(s.text()) ==
        "f:7:28: /expect/0/equal/1: \"f\" is a future: expect what its done gives\n"
        "f:7:51: /expect/1/equal/1: expected a value like \"r\", f32[2], got \"i\", s32[]");
}
}  // namespace
}  // namespace orrery
