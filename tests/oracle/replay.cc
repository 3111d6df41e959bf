#include "tests/oracle/replay.h"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/scenario/reader.h"
#include "verifier/definition/bounds.h"
#include "verifier/definition/compare.h"
#include "verifier/run.h"

namespace orrery::test {

namespace {

class Comparer {
 public:
  Comparer(Replay& replay, Numerics numerics) : replay_(replay), numerics_(numerics) {
    for (const auto& [name, value] : values_by_name(replay.report.scenario->program))
      values_.emplace(name, value);
  }

  void compare(const ExpectedType& expected) {
    const Program& program = replay_.report.scenario->program;
    const std::string got = text(program.value(values_.at(expected.name)).type, program.mesh);
    ++replay_.compared.types;
    if (got != expected.type)
      replay_.disagreements.push_back({nullptr, fmt::format("{}: Its type is {}, and JAX has {}.",
                                                            expected.name, got, expected.type)});
  }

  void compare(const Expected& expected) {
    const ValueId value = values_.at(expected.name);
    for (size_t d = 0; d < expected.per_device.size(); ++d) {
      const std::optional<Tensor>& got = replay_.report.values->at(value, LogicalId(d));
      const Tensor& want = expected.per_device[d];
      if (!got || got->dtype() != want.dtype() || got->shape() != want.shape())
        return disagrees(expected, "dtype or shape are others");
      if (expected.comparison == Comparison::Moved ? same_bits(*got, want) : *got == want) {
        replay_.compared.by_bits += static_cast<size_t>(want.elements());
      } else if (by_bounds(expected.comparison)) {
        compare_by_bounds(expected, LogicalId(d), *got, want);
      } else {
        return disagrees(expected, difference(LogicalId(d), *got, want));
      }
    }
  }

 private:
  bool by_bounds(Comparison comparison) const {
    return comparison == Comparison::Bound ||
           (comparison == Comparison::Fold && numerics_ == Numerics::Ieee);
  }

  void compare_by_bounds(const Expected& expected, LogicalId device, const Tensor& got,
                         const Tensor& want) {
    const ValueId value = values_.at(expected.name);
    const Tensor& ours = *bounds(ours_, RoundedBy::Orrery).at(value, device);
    const Tensor& theirs = *bounds(theirs_, RoundedBy::Xla).at(value, device);
    for (int64_t i = 0; i < got.elements(); ++i) {
      const auto one = [&](const Tensor& tensor) {
        return slice(tensor.reshaped(Shape{tensor.elements()}), {{i}, {i + 1}, {}});
      };
      const Nearness near = nearness(one(got), one(ours), one(want), one(theirs));
      if (near.wrong) {
        const auto at = static_cast<size_t>(i);
        return disagrees(expected,
                         difference(device, got, want) +
                             fmt::format(" Roundings allow {:.3g} at element {}.",
                                         ours.as<double>()[at] + theirs.as<double>()[at], i));
      }
      ++(near.undecided ? replay_.compared.undecided : replay_.compared.within_bounds);
    }
  }

  void disagrees(const Expected& expected, const std::string& what) {
    replay_.disagreements.push_back({&expected, fmt::format("{}: {}", expected.name, what)});
  }

  static std::string difference(LogicalId device, const Tensor& got, const Tensor& want) {
    const bool complex = is_complex(got.dtype());
    const Tensor x = complex ? parts(got) : got;
    const Tensor y = complex ? parts(want) : want;
    int64_t i = 0;
    while (element_bits(x, i) == element_bits(y, i))
      ++i;
    const int64_t element = complex ? i / 2 : i;
    return fmt::format("On device {}, element {} is {} ({:#x}), and JAX has {} ({:#x}).",
                       device.index(), element, element_text(got, element), element_bits(x, i),
                       element_text(want, element), element_bits(y, i));
  }

  const DeviceValues& bounds(std::optional<DeviceValues>& known, RoundedBy rounded_by) {
    const Report& report = replay_.report;
    if (!known)
      known = error_bounds(report.scenario->program, *report.lowered, *report.values, rounded_by);
    return *known;
  }

  Replay& replay_;
  Numerics numerics_;
  std::map<std::string, ValueId> values_;
  std::optional<DeviceValues> ours_;
  std::optional<DeviceValues> theirs_;
};

}  // namespace

Replay replay(const Case& made) {
  RunOptions options;
  options.data = Data::On;
  Replay replay{run(read_scenario("corpus", made.scenario, options.limits), options), {}, {}};
  for (const Check& check : replay.report.checks)
    if (check.verdict == Verdict::Fails)
      replay.disagreements.push_back({nullptr, check.name + ": " + check.message});
  Comparer comparer(replay, made.numerics);
  for (const ExpectedType& expected : made.types)
    comparer.compare(expected);
  for (const Expected& expected : made.expected)
    comparer.compare(expected);
  return replay;
}

}  // namespace orrery::test
