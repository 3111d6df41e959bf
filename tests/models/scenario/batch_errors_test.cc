// Tests batches that are refused, and the messages.

#include <string>

#include <doctest/doctest.h>

#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/batch_programs.h"

namespace orrery {
namespace {

using test::batched;
using test::error_of;
using test::refusal;
using test::Small;
using test::transfer;
using test::with_batch;

TEST_CASE("batch: requests that are refused") {
  const std::string neg = R"([{"id": "r", "op": "neg", "of": "a"}])";
  const auto refused = [&](const std::string& batch) { return error_of(with_batch(neg, batch)); };
  CHECK(refused(R"("in_axes": {"q": 0})") ==
        "/transform/batch/in_axes/q: expected the name of an array, got \"q\"");
  CHECK(refused(R"("in_axes": {"a": null})") ==
        "/transform/batch: missing key \"size\" (or an array with the batch in \"in_axes\")");
  CHECK(refused(R"("size": 3, "in_axes": {"q": 0})") ==
        "/transform/batch/in_axes/q: expected the name of an array, got \"q\"");
  CHECK(refused(R"("in_axes": {"a": 2})") ==
        "/transform/batch/in_axes/a: expected a dimension of \"a\", s32[2,3]{V:x} on a device, got "
        "2");
  CHECK(refused(R"("in_axes": {"a": 1, "c": 0})") ==
        "/transform/batch/in_axes/c: expected dimension 0 of \"c\" to be the size of the batch, 3, "
        "got s32[2] on a device");
  CHECK(refused(R"("size": 2, "in_axes": {"a": 1})") ==
        "/transform/batch/in_axes/a: expected dimension 1 of \"a\" to be the size of the batch, 2, "
        "got s32[2,3]{V:x} on a device");
  CHECK(refused(R"("size": 0)") ==
        "/transform/batch/size: expected the size of the batch of at least 1, got 0");
  CHECK(refused(R"("in_axes": {"a": -1})") ==
        "/transform/batch/in_axes/a: expected a dimension or null of at least 0, got -1");
  CHECK(refused(R"("in_axes": [0])") ==
        "/transform/batch/in_axes: expected an object with a dimension or null for each name, got "
        "a list");
  CHECK(refused(R"("in_axes": {"a": 1}, "out_axes": {"q": 0})") ==
        "/transform/batch/out_axes/q: expected the result of an op, got \"q\"");
  CHECK(refused(R"("in_axes": {"a": 1}, "out_axes": {"c": 0})") ==
        "/transform/batch/out_axes/c: expected the result of an op, got \"c\"");
  CHECK(refused(R"("in_axes": {"a": 1}, "out_axes": {"r": 2})") ==
        "/transform/batch/out_axes/r: expected a dimension from 0 to 1, got 2");
  CHECK(refused(R"("in_axes": {"a": 1}, "out_axes": {"r": null})") ==
        "/transform/batch/out_axes/r: expected a dimension, since \"r\" is batched, got null");
  CHECK(refused(R"("axis_name": "x", "in_axes": {"a": 1})") ==
        "/transform/batch/axis_name: expected a name that is no axis of the mesh (x), which does "
        "not have that of the batch, got \"x\"");
  CHECK(refused(R"("axis_name": "", "size": 3)") ==
        "/transform/batch/axis_name: expected an axis name that is not empty");
  CHECK(
      refused(R"("axis_name": "i", "size": 1000000)") ==
      "/transform/batch/axis_name: expected at most 1048576 devices, got 2 times 1000000 (--limit "
      "devices=N allows more)");
  CHECK(
      error_of(with_batch(R"([{"id": "r", "op": "neg", "of": "p"}])",
                          R"([{"batch": {"in_axes": {"p": 0, "ct_r": 0}}}, )"
                          R"({"vjp": {"of": ["r"], "with_respect_to": ["p"]}}])",
                          "[]",
                          R"(, "p": {"shape": [3, 2], "dtype": "f32"}, )"
                          R"("ct_r": {"shape": [3, 2], "dtype": "f32"})")) ==
      "/transform/0/batch/in_axes/ct_r: expected the name of an array, got \"ct_r\", a cotangent, "
      "which a later transform brings with the batch in it; leave it out, or batch after that "
      "transform");
  CHECK(error_of(with_batch(neg, "[{}]")) ==
        "/transform/0: expected an object with \"batch\", \"transpose\" or \"vjp\", got none");
  CHECK(error_of(with_batch(neg, R"([{"batch": {"size": 1}, "vjp": {}}])")) ==
        "/transform/0: expected an object with \"batch\", \"transpose\" or \"vjp\", got several");
}

TEST_CASE("batch: what a loop makes has the batch where it falls, and out_axes may only say so") {
  // "v" has the batch where "a" has it; "u" has no batch.
  const auto text_of = [](const std::string& out_axes) {
    return with_batch(
        R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "c"}, )"
        R"("yield": {"h": "u"}, "body": [{"id": "u", "op": "neg", "of": "h"}, )"
        R"({"id": "v", "op": "neg", "of": "a"}]}])",
        R"("in_axes": {"a": 1}, "out_axes": {)" + out_axes + "}");
  };
  CHECK(refusal(text_of(R"("l[1].v": 1, "l[1].u": null)")) == "");
  CHECK(error_of(text_of(R"("l[1].v": 0)")) ==
        "/transform/batch/out_axes/l[1].v: expected 1, as \"l[1].v\", which is made in a loop, has "
        "it, got 0");
  CHECK(error_of(text_of(R"("l[1].u": 0)")) ==
        "/transform/batch/out_axes/l[1].u: expected null, as \"l[1].u\", which is made in a loop, "
        "has it, got 0");
}

TEST_CASE("transforms: they take one program on all devices") {
  const auto said = [](const std::string& programs) {
    std::string text = with_batch("[]", R"("size": 3)");
    return error_of(text.replace(text.find("\"program\": []"), 13, "\"programs\": " + programs));
  };
  CHECK(said(R"([{"on": [0], "do": []}])") ==
        "/transform/batch: expected one program on all devices, got one on 1");
  CHECK(said(R"([{"on": [0], "do": []}, {"on": [1], "do": []}])") ==
        "/transform/batch: expected one program on all devices, got 2 programs");
}

TEST_CASE("transforms: they take no group") {
  Small s;
  s.program =
      R"([{"id": "g", "op": "group", "do": [)"
      R"({"id": "t", "op": "psend", "of": "a", "axis_name": "x", "perm": [[0, 1]]}, )"
      R"({"id": "r", "op": "precv", "of": "t", "shape": [], "dtype": "f32", "axis_name": "x", )"
      R"("perm": [[0, 1]]}]}])";
  s.more = R"("transform": {"batch": {"in_axes": {"a": 0}}})";
  CHECK(error_of(s.text()) ==
        "/program/0/do/0: psend \"t\": expected no group in a program that is transformed");
}

TEST_CASE("batch: an argument that is the same along the axis has no batch") {
  CHECK(error_of(with_batch(R"([{"id": "r", "op": "psum", "of": "p", "axis_name": "i"}])",
                            R"([{"vjp": {"of": ["r"], "with_respect_to": ["p"]}}, )"
                            R"({"batch": {"axis_name": "i", "in_axes": {"p": 0, "ct_r": 0}}}])",
                            "[]",
                            R"(, "p": {"shape": [3, 2], "dtype": "f32"}, )"
                            R"("ct_r": {"shape": [3, 2], "dtype": "f32"})")) ==
        "/transform/1/batch/in_axes/ct_r: expected null, since \"ct_r\" is the same along i, got "
        "0");
}

TEST_CASE("batch: an array of some devices has none in the place of a mesh axis") {
  CHECK(error_of(with_batch(R"([{"id": "r", "op": "neg", "of": "a"}])",
                            R"("axis_name": "i", "in_axes": {"a": 1})", "[]",
                            R"(, "o": {"shape": [2], "dtype": "s32", "on": [0]})")) ==
        "/arrays/o: expected an array on every device, for a batch in the place of a mesh axis, "
        "got \"o\"");
}

TEST_CASE("batch: ops that are refused") {
  const std::string expected = "/program/0: expected an op that can be batched, got \"r\": ";
  const auto refused = [&](const std::string& op) {
    return error_of(
        with_batch(R"([{"id": "r", )" + op + "}]", R"("axis_name": "i", "in_axes": {"a": 1})"));
  };
  CHECK(refused(R"("op": "psum", "of": "a", "axis_name": "i", )"
                R"("axis_index_groups": [[0], [1, 2]])") ==
        expected + "psum: axis_index_groups over \"i\", whose place the batch takes");
  CHECK(refused(R"("op": "ppermute", "of": "a", "axis_name": ["x", "i"], )"
                R"("perm": [[0, 1], [1, 3]])") ==
        expected +
            "ppermute: a permutation over the batched axis and others at once, which is "
            "not one of each");
  CHECK(error_of(
            with_batch(R"([{"id": "r", "op": "ragged_all_to_all", "of": ["a", "a", "k", "k", "k", )"
                       R"("k"], "axis_name": "i"}])",
                       R"("axis_name": "i", "in_axes": {"a": 1})", "[]",
                       R"(, "k": {"shape": [3], "dtype": "s32"})")) ==
        expected + "ragged_all_to_all: slices over \"i\", whose place the batch takes");
  // The scenario does not say whether transfers along the batched axis end.
  const std::string half =
      ": over \"i\", whose place the batch takes, without a half of other devices that matches it";
  CHECK(error_of(with_batch(transfer(R"("i")", "[[0, 1]]", "[[0, 2]]"),
                            R"("axis_name": "i", "in_axes": {"a": 1})")) ==
        "/program/0: expected an op that can be batched, got \"t\": psend" + half);
  CHECK(refused(R"("op": "psend", "of": "a", "axis_name": "i", "perm": [[0, 1]])") ==
        expected + "psend" + half);
  CHECK(error_of(
            with_batch(R"([{"id": "t", "op": "create_token"}, {"id": "r", "op": "precv", )"
                       R"("of": "t", "shape": [2], "dtype": "s32", "axis_name": "i", "perm": []}])",
                       R"("axis_name": "i", "in_axes": {"a": 1})")) ==
        "/program/1: expected an op that can be batched, got \"r\": precv: its psend is not in the "
        "program that is batched");
  CHECK(refused(R"("op": "compute", "of": ["a", "c"], "flops": "2 FLOP", "bytes": "3 B", )"
                R"("dtype": "s32", "shape": [2], "in_place_of": 1, "donate": ["c"])") ==
        expected +
            "compute: \"in_place_of\" an operand that is not batched, and has no room for "
            "the result");
  Limits few;
  few.ops = 1000;
  CHECK(error_of(with_batch(R"([{"id": "k", "op": "reduce_max", "of": "p", "axes": [0]}, )"
                            R"({"id": "r", "op": "dynamic_slice", "of": ["c", "k"], )"
                            R"("slice_sizes": [1]}])",
                            R"("in_axes": {"p": 0})", "[]",
                            R"(, "p": {"shape": [300000, 2], "dtype": "s32"})"),
                 few) ==
        "/program/1: expected an op that can be batched, got \"r\": the batch needs more than "
        "1000 ops");
}

TEST_CASE("batch: a start that changes needs its done in the program that is batched") {
  const std::string message =
      refusal(with_batch(R"([{"id": "q", "op": "psum_start", "of": "a", "axis_name": ["x", "i"]}])",
                         R"("axis_name": "i", "in_axes": {"a": 1})"));
  CHECK(message.find("/program/0: expected an op that can be batched, got \"q\": psum_start: its "
                     "done is not in the program that is batched") != std::string::npos);
}

TEST_CASE("batch: these ops have no batch rule") {
  std::string without;
  for (const OpRules& op : all_rules())
    if (op.transforms.batch == nullptr)
      without += std::string(op.name) + " ";
  // full, iota and create_token have no operand; done is batched with its start.
  CHECK(without == "done full iota create_token ");
}

}  // namespace
}  // namespace orrery
