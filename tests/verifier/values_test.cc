// Tests whether VALUES.ORACLE finds wrong results of collectives, in every float dtype, at sizes
// where the roundings of a sum are as large as the sum itself.

#include "verifier/check/values.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "simulator/lower/lower.h"
#include "tests/models/array/random_tensors.h"
#include "tests/models/program/looping.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/verifier/values_check.h"
#include "verifier/prove/prover.h"

namespace orrery::test {
namespace {

constexpr int64_t kCount = 3;  // elements per rank

/// A `RunRig` is one collective over n ranks, and its run.
class RunRig {
 public:
  RunRig(const std::string& op, const std::string& algorithm, Dtype dtype, int64_t n)
      : rig_({{"x", n}}) {
    Random random(static_cast<uint64_t>(n));
    std::vector<Tensor> data;
    const bool scatters = op == "psum_scatter";
    for (int64_t d = 0; d < n; ++d)
      data.push_back(random_normalish(dtype, {scatters ? kCount * n : kCount}, random));
    rig_.argument("a", std::move(data));
    std::vector<std::pair<std::string, Attribute>> attributes = {{"axis_name", Names{"x"}},
                                                                 {"algorithm", algorithm}};
    if (scatters) {
      attributes.emplace_back("scatter_dimension", int64_t{0});
      attributes.emplace_back("tiled", true);
    }
    rig_.op(op, "r", {"a"}, attributes);
    values_ = rig_.run().values;
    prover_.emplace(rig_.program, rig_.lowered);
    unable_.emplace(rig_.program, rig_.lowered, ProofBudget{0, 0});
  }

  /// Returns the result on a device, which the test spoils.
  Tensor& result(size_t device) { return values_.at(rig_.value("r"), LogicalId(device)).value(); }

  Check proved() { return check(*prover_); }
  Check not_proved() { return check(*unable_); }

 private:
  Check check(Prover& prover) {
    return values_check(rig_.program, rig_.lowered, prover, values_).value();
  }

  HostRig rig_;
  DeviceValues values_;
  std::optional<Prover> prover_;
  std::optional<Prover> unable_;
};

struct Sum {
  std::string op;
  std::string algorithm;
};

const std::vector<Sum> kSums = {{"psum", "ring"},
                                {"psum", "recursive_doubling"},
                                {"pmean", "ring"},
                                {"pmean", "recursive_doubling"},
                                {"psum_scatter", "ring"}};

constexpr Dtype kFloats[] = {Dtype::F8E5M2, Dtype::F8E4M3FN, Dtype::BF16,
                             Dtype::F16,    Dtype::F32,      Dtype::F64};

/// Returns the size from which 2 (n - 1) u is at least 1. u is 2^-3, 2^-4, 2^-8 and 2^-11.
int64_t least_hopeless(Dtype dtype) {
  switch (dtype) {
    case Dtype::F8E5M2:
      return 5;
    case Dtype::F8E4M3FN:
      return 9;
    case Dtype::BF16:
      return 129;
    case Dtype::F16:
      return 1025;
    default:
      return 17;
  }
}

TEST_CASE("values: a result of zeros fails, where the bounds of its sums would allow it too") {
  for (const Dtype dtype : kFloats) {
    for (const Sum& sum : kSums) {
      const int64_t n = least_hopeless(dtype);
      if (n > 1000 && sum.algorithm == "ring")
        continue;  // two million steps
      INFO(fmt::format("{} by {} of {} over {}", sum.op, sum.algorithm, name(dtype), n));
      RunRig rig(sum.op, sum.algorithm, dtype, n);
      CHECK(rig.proved().holds());
      for (size_t device = 0; device < static_cast<size_t>(n); ++device)
        rig.result(device) = Tensor(dtype, {kCount});
      CHECK(rig.proved().verdict == Verdict::Fails);
    }
  }
}

TEST_CASE("values: one wrong last bit on one device fails, in every float dtype") {
  for (const Dtype dtype : kFloats) {
    for (const Sum& sum : kSums) {
      INFO(fmt::format("{} by {} of {}", sum.op, sum.algorithm, name(dtype)));
      RunRig rig(sum.op, sum.algorithm, dtype, 9);
      rig.result(7).bytes()[static_cast<size_t>(2 * itemsize(dtype).count())] ^= std::byte{1};
      const Check check = rig.proved();
      CHECK(check.verdict == Verdict::Fails);
      CHECK(check.message.find("\"r\" on device 7 has ") == 0);
      CHECK(check.message.find(" at element 2; " + sum.op + " of its operands is ") !=
            std::string::npos);
    }
  }
}

TEST_CASE("values: without a proof, sums whose roundings may be as large are undecided") {
  for (const Dtype dtype : {Dtype::F8E5M2, Dtype::F8E4M3FN, Dtype::BF16}) {
    INFO(name(dtype));
    // A sum may have grown by its own roundings, so zero is not always within twice their bound.
    const int64_t n = 2 * least_hopeless(dtype);
    RunRig rig("psum", "recursive_doubling", dtype, n);
    for (size_t device = 0; device < static_cast<size_t>(n); ++device)
      rig.result(device) = Tensor(dtype, {kCount});
    const Check check = rig.not_proved();
    CHECK(check.verdict == Verdict::Undecided);
    CHECK(check.message.find("its schedule is not proved") != std::string::npos);
  }
}

TEST_CASE("values: without a proof, f32 sums are compared by the bound of their roundings") {
  RunRig rig("psum", "ring", Dtype::F32, 9);
  CHECK(rig.not_proved().holds());
  CHECK(rig.not_proved().message ==
        "\"r\" is psum of its operands, within the roundings of its sums.");
  CHECK(rig.proved().message ==
        "\"r\" is psum of its operands, bit for bit, in the order of its schedule.");
  rig.result(3).as<float>()[0] *= 1.001F;
  CHECK(rig.not_proved().verdict == Verdict::Fails);
}

TEST_CASE("values: a wrong result on one device outweighs one that is undecided on another") {
  RunRig rig("psum", "ring", Dtype::F8E5M2, 5);
  rig.result(0) = Tensor(Dtype::F8E5M2, {kCount});
  const double far = 57344;  // more than all terms together, which are at most 4 each
  set_element_from_double(rig.result(4), 0, far);
  CHECK(rig.not_proved().verdict == Verdict::Fails);
}

/// Runs a loop of five psums of 4 devices, in two groups of two. The runs for which `is_spoilt`
/// holds get a result in which one bit of a member is wrong. Returns the check.
std::optional<Check> check_of_loop(
    const std::function<bool(CollectiveRun run, LogicalId device)>& is_spoilt, bool proved) {
  Looping l(Checks::Shapes);
  l.begin("l", 2, 7, {{"p", "a"}});
  l.with(op("l[].s", "psum", {"l[].p"},
            {{"axis_name", Names{"x"}}, {"axis_index_groups", Lists{{0, 2}, {1, 3}}}}));
  l.end({{"p", "l[].s"}});
  const Program program = l.finish();
  Diagnostics diagnostics("f");
  const Cluster cluster{
      "rig", fully_connected_fabric(4, {BytesPerSecond(1'000'000'000), Duration(1)}), {}};
  const Lowered lowered = lower(program, cluster, diagnostics);
  diagnostics.throw_if_any();
  DeviceValues arguments(program);
  for (uint32_t d = 0; d < 4; ++d)
    arguments.at(ValueId(0), LogicalId(d)) = tensor(Dtype::F32, {4}, {0.1 * d, 1, 0.3, 0.7});
  Prover prover(program, lowered, proved ? ProofBudget() : ProofBudget{0, 0});
  ValuesAgainstDefinitions definitions(
      program, lowered,
      [&](const Op& of, const Collective& collective) { return prover.folds(of, collective); });
  const auto add = [&](const EndedRun& run) {
    std::vector<EndedMember> members(run.members.begin(), run.members.end());
    for (EndedMember& member : members)
      if (is_spoilt(run.run, member.device)) {
        auto spoilt = std::make_shared<Tensor>(*member.result);
        spoilt->bytes()[11] ^= std::byte{0x40};  // the exponent of element 2
        member.result = std::move(spoilt);
      }
    definitions.add({run.run, members});
  };
  CHECK(execute(program, lowered, std::move(arguments), add).stop.finished());
  CHECK(definitions.checks().size() <= 1);
  return definitions.check(SiteId(0));
}

TEST_CASE("values: the runs of a loop have one check, which names the first that is wrong") {
  for (const bool proved : {true, false}) {
    CAPTURE(proved);
    const std::optional<Check> right =
        check_of_loop([](CollectiveRun, LogicalId) { return false; }, proved);
    REQUIRE(right.has_value());
    CHECK(right->holds());
    CHECK(right->message.find("\"l[].s\" is psum of its operands, ") == 0);
    const std::optional<Check> wrong = check_of_loop(
        [](CollectiveRun run, LogicalId device) {
          return run.iteration >= 3 || (run.iteration == 1 && device != LogicalId(0));
        },
        proved);
    REQUIRE(wrong.has_value());
    CHECK(wrong->verdict == Verdict::Fails);
    CHECK(wrong->of == "\"l[3].s\"");
    CHECK(wrong->message.find("\"l[3].s\" on device 2 has ") == 0);
    CHECK(wrong->message.find(" at element 2; psum of its operands is ") != std::string::npos);
    CHECK(wrong->witness.front() == std::pair<std::string, std::string>("op", "l[3].s"));
  }
}

}  // namespace
}  // namespace orrery::test
