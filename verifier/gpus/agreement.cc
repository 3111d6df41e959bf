#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/array/text.h"
#include "models/program/dependent_values.h"
#include "models/scenario/quantity_text.h"
#include "verifier/check/names.h"
#include "verifier/definition/bounds.h"
#include "verifier/definition/compare.h"
#include "verifier/gpus/gpus.h"

namespace orrery {
namespace {

/// Returns the first element whose bits differ. Requires one dtype and shape.
int64_t first_difference(const Tensor& a, const Tensor& b) {
  const auto differ = std::mismatch(a.bytes().begin(), a.bytes().end(), b.bytes().begin());
  return (differ.first - a.bytes().begin()) / itemsize(a.dtype()).count();
}

/// Compares the values of a run on GPUs with the host's.
class GpuValues {
 public:
  GpuValues(const Program& program, const Lowered& lowered, const DeviceValues& host,
            const DeviceValues& gpus, std::span<const OpId> products)
      : program_(program), host_(host), gpus_(gpus), same_bits_(program.values.size(), true) {
    for (const auto& [value, product] : dependent_values(program, products))
      same_bits_[value.index()] = false;
    const OtherRun on_gpus{gpus, same_bits_};
    if (!products.empty())
      bounds_ = error_bounds(program, lowered, host, RoundedBy::CublasLt, &on_gpus);
  }

  Check check() {
    std::vector<bool> given(program_.values.size(), false);
    for (const Argument& argument : program_.arguments)
      given[argument.value.index()] = true;
    for (size_t v = 0; v < program_.values.size(); ++v)
      for (int64_t d = 0; !given[v] && d < program_.mesh.devices(); ++d)
        if (auto wrong = compare(ValueId(v), LogicalId(static_cast<size_t>(d))))
          return std::move(*wrong);
    std::string text =
        fmt::format("{} values of the GPUs are those of the host executor, bit for bit", in_bits_);
    if (!bounds_)
      return passed(CheckKind::ValuesGpus, "", text + ".");
    text += fmt::format(
        ". {} that depend on --fast-dot were compared within the bounds of both sides' roundings.",
        within_bounds_);
    if (loose_ > 0)
      text +=
          fmt::format(" In {} of their elements the bounds are as large as the values.", loose_);
    if (unbounded_ > 0)
      text += fmt::format(" Not compared: {} elements of which no bound is known, the first in {}.",
                          unbounded_, first_unbounded_);
    if (!first_open_.empty())
      text += fmt::format(" The bounds decide no element of {}.", first_open_);
    if (unbounded_ > 0 || !first_open_.empty())
      return undecided(CheckKind::ValuesGpus, "", std::move(text));
    return passed(CheckKind::ValuesGpus, "", std::move(text));
  }

 private:
  /// Returns the check that fails, if this value is wrong.
  std::optional<Check> compare(ValueId value, LogicalId device) {
    const std::optional<Tensor>& expected = host_.at(value, device);
    const std::optional<Tensor>& got = gpus_.at(value, device);
    if (expected.has_value() != got.has_value())
      return failed(
          CheckKind::ValuesGpus, quoted(program_.value(value).name),
          fmt::format("{} on device {} is on {} alone.", quoted(program_.value(value).name),
                      device.index(), expected ? "the host" : "the GPUs"));
    if (!expected)
      return std::nullopt;
    if (same_bits_[value.index()]) {
      ++in_bits_;
      if (same_bits(*expected, *got))
        return std::nullopt;
      return differs(value, device, first_difference(*expected, *got), "");
    }
    ++within_bounds_;
    const Tensor& bound = *bounds_->at(value, device);
    const Nearness near = nearness(*expected, bound, *got, bound);
    if (near.wrong) {
      const double allowed = 2 * bound.as<double>()[static_cast<size_t>(*near.wrong)];
      return differs(value, device, *near.wrong,
                     allowed == 0 ? ""
                                  : ", and the roundings of both allow " +
                                        allowed_text(Verdict::Fails, allowed));
    }
    const std::string& name = program_.value(value).name;
    const auto where = [&] { return fmt::format("{} on device {}", quoted(name), device.index()); };
    loose_ += near.loose;
    if (near.unbounded > 0 && unbounded_ == 0)
      first_unbounded_ = where();
    unbounded_ += near.unbounded;
    if (near.loose > 0 && near.decided == 0 && first_open_.empty())
      first_open_ = where();
    return std::nullopt;
  }

  Check differs(ValueId value, LogicalId device, int64_t element,
                const std::string& allowed) const {
    const std::string& name = program_.value(value).name;
    const std::string on_gpus = element_text(*gpus_.at(value, device), element);
    const std::string on_host = element_text(*host_.at(value, device), element);
    return failed(CheckKind::ValuesGpus, quoted(name),
                  fmt::format("{} on device {}: element {} is {} on the GPUs and {} on the host{}.",
                              quoted(name), device.index(), element, on_gpus, on_host, allowed),
                  {{"value", name},
                   {"device", fmt::format("{}", device.index())},
                   {"element", fmt::format("{}", element)},
                   {"gpus", on_gpus},
                   {"host", on_host}});
  }

  const Program& program_;
  const DeviceValues& host_;
  const DeviceValues& gpus_;
  std::vector<bool> same_bits_;         // per value: whether it is the host's, bit for bit
  std::optional<DeviceValues> bounds_;  // of others, on each side
  uint64_t in_bits_ = 0;                // values, on each device that has them
  uint64_t within_bounds_ = 0;
  int64_t loose_ = 0;  // elements
  int64_t unbounded_ = 0;
  std::string first_unbounded_;
  std::string first_open_;
};

}  // namespace

Check gpu_values_agree(const Program& program, const Lowered& lowered, const DeviceValues& host,
                       const DeviceValues& gpus, std::span<const OpId> products) {
  return GpuValues(program, lowered, host, gpus, products).check();
}

Check arenas_agree(const MemoryProfile& memory, const cuda::GpuFacts& facts) {
  for (size_t d = 0; d < facts.memory.size(); ++d) {
    const Bytes counted = memory.kind_of[d] ? memory.of(LogicalId(d)).arena : Bytes();
    if (facts.memory[d].arena != counted)
      return failed(
          CheckKind::MemoryArena, "",
          fmt::format("Virtual device {} used {} of its arena, and the profile counts {}.", d,
                      quantity_text(facts.memory[d].arena), quantity_text(counted)));
  }
  return passed(CheckKind::MemoryArena, "");
}

Check guards_whole(const cuda::GpuFacts& facts) {
  if (facts.damage)
    return failed(CheckKind::MemoryGuards, "", *facts.damage + ".");
  return passed(CheckKind::MemoryGuards, "");
}

}  // namespace orrery
