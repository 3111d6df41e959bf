// Tests what "vjp" may be told of loops: recompute, overlap and prefetch.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/scenario/support.h"
#include "tests/models/scenario/vjp_rig.h"

namespace orrery::test {
namespace {

TEST_CASE("vjp: overlap adds up in the next iteration, so that collectives may run until then") {
  CHECK(backward_ops(R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 9, )"
                     R"("carry": {"h": "w"}, "body": [{"id": "n", "op": "neg", "of": "h"}, )"
                     R"({"id": "p", "op": "psum", "of": "v", "axis_name": "x"}, )"
                     R"({"id": "y", "op": "add", "of": ["n", "p"]}], "yield": {"h": "y"}}])",
                     R"({"vjp": {"of": "l", "with_respect_to": ["v", "w"], "overlap": true, )"
                     R"("keep_loops": true}})",
                     R"(, "v": {"shape": [4], "dtype": "f32", "spec": ["x"]})") ==
        std::vector<std::string>{
            "l.bwd.1 = full()", "l.bwd.2 = pvary(l.bwd.1)", "l.bwd.3 = broadcast_in_dim(l.bwd.2)",
            "l.bwd.first.y.bwd.start = psum_start(ct_l)", "l.bwd.first.n.bwd = neg(ct_l)",
            "l.bwd[].y.bwd = done(l.bwd[].y.bwd.start.before)",
            "l.bwd[].y.bwd.start = psum_start(l.bwd[].ct_h)", "l.bwd[].n.bwd = neg(l.bwd[].ct_h)",
            "l.bwd[].p.bwd = pvary(l.bwd[].y.bwd)",
            "l.bwd[].p.bwd.1 = add(l.bwd[].ct_v.before, l.bwd[].p.bwd)",
            "l.bwd.last.y.bwd = done(l.bwd.y.bwd.start.before)",
            "l.bwd.last.p.bwd = pvary(l.bwd.last.y.bwd)",
            "l.bwd.ct_v = add(l.bwd.ct_v.before, l.bwd.last.p.bwd)"});
}

/// Multiplies by a gathered part of "v" in each iteration. `before` and `after` are other ops.
std::string gathering(const std::string& before, const std::string& after,
                      const std::string& transform) {
  return looped(
      "[" + before +
          R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": 3, "index": "i", )"
          R"("carry": {"h": "w"}, "yield": {"h": "y"}, "body": [)"
          R"({"id": "s", "op": "dynamic_slice", "of": ["v", "i"], "slice_sizes": [1]}, )"
          R"({"id": "g", "op": "all_gather", "of": "s", "axis_name": "x", "axis": 0, "tiled": true},)"
          R"({"id": "y", "op": "mul", "of": ["h", "g"]}]})" +
          after + "]",
      R"({"vjp": {"of": "l", "recompute": "l.g", "prefetch": 1, )" + transform + "}}",
      R"(, "v": {"shape": [6], "dtype": "f32", "spec": ["x"]})");
}

TEST_CASE("vjp: prefetch starts a gather in the iteration before, in both passes") {
  const std::vector<std::string> ops = all_ops(
      gathering(R"({"id": "z", "op": "full", "shape": [], "dtype": "s32", "fill_value": 0}, )", "",
                R"("with_respect_to": "w")"));
  CHECK(ops == std::vector<std::string>{
                   "z = full()",
                   // Before the loop the gather of its first iteration starts.
                   "l.index = full()", "l.s.ahead = dynamic_slice(v, l.index)",
                   "l.g.start = all_gather_start(l.s.ahead)", "l.distance = full()",
                   // Iterations 0 and 1.
                   "l.ahead[].i = full()", "l.ahead[].index.ahead = add(l.ahead[].i, l.distance)",
                   "l.ahead[].s.ahead = dynamic_slice(v, l.ahead[].index.ahead)",
                   "l.ahead[].g.start = all_gather_start(l.ahead[].s.ahead)",
                   "l.ahead[].g = done(l.ahead[].g.started)",
                   "l.ahead[].y = mul(l.ahead[].h, l.ahead[].g)",
                   // The last iteration starts nothing.
                   "l[].i = full()", "l[].g = done(l.ahead.g.started)", "l[].y = mul(l[].h, l[].g)",
                   // Backward it is the gather of the last iteration that starts first.
                   "l.last = full()", "l.bwd.index = full()",
                   "l.bwd.position.ahead = sub(l.last, l.bwd.index)",
                   "l.bwd.s.re.ahead = dynamic_slice(v, l.bwd.position.ahead)",
                   "l.bwd.g.re.start = all_gather_start(l.bwd.s.re.ahead)",
                   "l.bwd.distance = full()", "l.bwd.ahead[].i = full()",
                   "l.bwd.ahead[].index.ahead = add(l.bwd.ahead[].i, l.bwd.distance)",
                   "l.bwd.ahead[].position.ahead = sub(l.last, l.bwd.ahead[].index.ahead)",
                   "l.bwd.ahead[].s.re.ahead = dynamic_slice(v, l.bwd.ahead[].position.ahead)",
                   "l.bwd.ahead[].g.re.start = all_gather_start(l.bwd.ahead[].s.re.ahead)",
                   "l.bwd.ahead[].g.re = done(l.bwd.ahead[].g.re.started)",
                   "l.bwd.ahead[].y.bwd = mul(l.bwd.ahead[].ct_h, l.bwd.ahead[].g.re)",
                   "l.bwd[].i = full()", "l.bwd[].g.re = done(l.bwd.ahead.g.re.started)",
                   "l.bwd[].y.bwd = mul(l.bwd[].ct_h, l.bwd[].g.re)"});
}

TEST_CASE("vjp: prefetch needs loops that stay loops") {
  const std::string nested =
      R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "w"}, "yield": )"
      R"({"h": "k"}, "body": [{"id": "k", "op": "fori_loop", "lower": 0, "upper": 2, "index": "i", )"
      R"("carry": {"h": "h"}, "yield": {"h": "y"}, "body": [)"
      R"({"id": "s", "op": "dynamic_slice", "of": ["v", "i"], "slice_sizes": [1]}, )"
      R"({"id": "g", "op": "all_gather", "of": "s", "axis_name": "x", "axis": 0, "tiled": true, )"
      R"("donate": "s"}, {"id": "y", "op": "mul", "of": ["h", "g"]}]}]}])";
  const auto prefetched = [&](const std::string& recompute) {
    return looped(nested,
                  R"({"vjp": {"of": "l", "with_respect_to": "w", "prefetch": 1, "recompute": ")" +
                      recompute + R"("}})",
                  R"(, "v": {"shape": [6], "dtype": "f32", "spec": ["x"]})");
  };
  CHECK(refusal(prefetched("l")) ==
        "f:6:22: /transform/vjp: expected loops that go back as loops, as \"prefetch\" needs them; "
        "they are written out where a single iteration is named, or a loop in a loop is computed "
        "again as a whole (name its ops instead, \"l.k.g\")");
  const std::vector<std::string> ops = all_ops(prefetched("l.k.g"));
  CHECK(std::count(ops.begin(), ops.end(),
                   "l[].k.ahead[].g.start = all_gather_start(l[].k.ahead[].s.ahead)") == 1);
}

TEST_CASE("vjp: loops that transforms make have names that nothing has") {
  const std::vector<std::string> ops =
      all_ops(gathering("",
                        R"(, {"id": "l.ahead.h", "op": "neg", "of": "l"}, )"
                        R"({"id": "l.bwd.y.bwd.start.before", "op": "neg", "of": "l"})",
                        R"("with_respect_to": ["v", "w"], "overlap": true)"));
  CHECK(std::count(ops.begin(), ops.end(),
                   "l.ahead.1[].g.start = all_gather_start(l.ahead.1[].s.ahead)") == 1);
}

TEST_CASE("vjp: prefetch leaves a loop of which an iteration is read as it is") {
  const std::vector<std::string> ops = all_ops(
      gathering("", R"(, {"id": "n", "op": "neg", "of": "l[1].g"})", R"("with_respect_to": "w")"));
  const auto has = [&](const char* op) { return std::count(ops.begin(), ops.end(), op); };
  CHECK(has("l[].g = all_gather(l[].s)") == 1);
  CHECK(has("l.bwd.ahead[].g.re.start = all_gather_start(l.bwd.ahead[].s.re.ahead)") == 1);
}

/// Each iteration computes m = sin(h), y = m * m, where h is y of the iteration before.
const std::string kTwoInBody =
    R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 9, "carry": {"h": "w"}, "body": [)"
    R"({"id": "m", "op": "sin", "of": "h"}, {"id": "y", "op": "mul", "of": ["m", "m"]}], )"
    R"("yield": {"h": "y"}}])";

std::vector<std::string> again(const std::string& recompute) {
  std::vector<std::string> found;
  for (const std::string& line :
       all_ops(looped(kTwoInBody, R"({"vjp": {"of": "l", "with_respect_to": "w", "recompute": )" +
                                      recompute + "}}")))
    if (line.find(".re = ") != std::string::npos)
      found.push_back(line);
  return found;
}

TEST_CASE("vjp: a loop's body is computed again from what iterations carry") {
  const std::vector<std::string> all = {"l.bwd[].m.re = sin(l.bwd[].h.saved.1)"};
  for (const char* recompute : {R"("l")", R"("l[].m")", R"("all")"}) {
    CAPTURE(recompute);
    CHECK(again(recompute) == all);
  }
  CHECK(again(R"("l[0].m")") == std::vector<std::string>{"l[0].m.re = sin(w)"});
}

/// Returns the recomputed ops of a loop k in a loop l, each of two iterations. An iteration of k
/// computes n = sin(g), m = n * n.
std::vector<std::string> again_of_nested(const std::string& recompute) {
  std::vector<std::string> found;
  for (
      const std::string& line : all_ops(looped(
          R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "w"}, )"
          R"("yield": {"h": "k"}, "body": [{"id": "k", "op": "fori_loop", "lower": 0, )"
          R"("upper": 2, "carry": {"g": "h"}, "yield": {"g": "m"}, "body": [)"
          R"({"id": "n", "op": "sin", "of": "g"}, {"id": "m", "op": "mul", "of": ["n", "n"]}]}]}])",
          R"({"vjp": {"of": "l", "with_respect_to": "w", "keep_loops": true, "recompute": )" +
              recompute + "}}")))
    if (const size_t end = line.find(".re = "); end != std::string::npos)
      found.push_back(line.substr(0, end));
  return found;
}

TEST_CASE("vjp: an index that recompute leaves out, or has as [], means all iterations") {
  using Names = std::vector<std::string>;
  // The inner loop. Its op m is carried on, so only n is recomputed. Then the op n itself.
  for (const char* all : {"l.k", "l[].k", "l[].k[].n", "l.k[].n", "l[].k.n", "l.k.n"}) {
    CAPTURE(all);
    CHECK(again_of_nested(R"([")" + std::string(all) + R"("])") == Names{"l.bwd[].k.bwd[].n"});
  }
  // These name single iterations.
  CHECK(again_of_nested(R"(["l[1].k"])") == Names{"l[1].k[1].n", "l[1].k[0].n"});
  CHECK(again_of_nested(R"(["l[].k[0].n"])") == Names{"l[1].k[0].n", "l[0].k[0].n"});
}

TEST_CASE("vjp: where a loop in a body is computed again, both are written out") {
  // The carries of k are computed again too, but m of its last iteration, which l carries.
  const std::vector<std::string> names = again_of_nested(R"(["l"])");
  CHECK(names == std::vector<std::string>{"l[1].k[0].n", "l[1].k[0].m", "l[1].k[1].n",
                                          "l[0].k[0].n", "l[0].k[0].m", "l[0].k[1].n"});
  CHECK(again_of_nested(R"("all")").front() == "l[0].k[0].n");
}

TEST_CASE("vjp: of a loop without iterations recompute has nothing to compute again") {
  const std::string program =
      R"([{"id": "e", "op": "fori_loop", "lower": 0, "upper": 0, "body": [)"
      R"({"id": "y", "op": "sin", "of": "w"}]}, {"id": "l", "op": "sin", "of": "w"}])";
  for (const std::string name : {"e", "e.y", "e[].y"})
    CHECK(refusal(looped(program, R"({"vjp": {"of": "l", "with_respect_to": "w", "recompute": [")" +
                                      name + R"("]}})")) == "");
}

TEST_CASE("vjp: transfers are not started by overlap, which could make their halves wait") {
  const std::vector<std::string> ops = all_ops(
      looped(R"([{"id": "s", "op": "psum", "of": "w", "axis_name": "x"}, )"
             R"({"id": "t", "op": "psend", "of": "w", "axis_name": "x", "perm": [[0, 1]]}, )"
             R"({"id": "y", "op": "precv", "of": "t", "shape": [2], "dtype": "f32", )"
             R"("axis_name": "x", "perm": [[0, 1]]}, {"id": "l", "op": "mul", "of": ["s", "y"]}])",
             R"({"vjp": {"of": "l", "with_respect_to": "w", "overlap": true}})"));
  CHECK(ops.size() > 4);
  for (const std::string& op : ops)
    CHECK((op.find("psend_start") == op.npos && op.find("precv_start") == op.npos));
}

}  // namespace
}  // namespace orrery::test
