#include "simulator/values/live_values.h"

#include <optional>
#include <span>
#include <utility>

#include "models/base/check.h"

namespace orrery {

LiveValues::LiveValues(const Program& program, std::shared_ptr<const Iterations> iterations,
                       DeviceValues given)
    : program_(program),
      iterations_(std::move(iterations)),
      reaches_(program, *iterations_),
      given_(std::move(given)),
      holders_(program) {
  size_t count = 0;
  for (size_t v = 0; v < program.values.size(); ++v) {
    first_.push_back(count);
    count += holders_.of(ValueId(v)).size();
  }
  kept_.resize(count);
  for (const Argument& argument : program.arguments)
    for (const LogicalId device : holders_.of(argument.value))
      if (std::optional<Tensor> tensor = given_.take(argument.value, device))
        put({argument.value}, device, std::make_shared<Tensor>(*std::move(tensor)));
}

const std::shared_ptr<Tensor>& LiveValues::find(ValueRun value, LogicalId device) const {
  const std::optional<size_t> among = index_among(holders_.of(value.value), device);
  if (!among)
    return none_;
  const Kept& kept = kept_[first_[value.value.index()] + *among];
  if (kept.latest.iteration == value.iteration)
    return kept.latest.tensor;
  for (const Made& made : kept.earlier)
    if (made.iteration == value.iteration)
      return made.tensor;
  return none_;
}

void LiveValues::put(ValueRun value, LogicalId device, std::shared_ptr<Tensor> tensor) {
  const std::optional<size_t> among = index_among(holders_.of(value.value), device);
  ORRERY_CHECK(among.has_value(), "only a device that has a value holds it");
  Kept& kept = kept_[first_[value.value.index()] + *among];
  ++tensors_;
  if (kept.latest.tensor) {
    ORRERY_CHECK(kept.latest.iteration < value.iteration, "iterations are made in order");
    const auto is_over = [&](const Made& made) {
      return !reaches_.is_read_from({value.value, made.iteration}, value.iteration);
    };
    tensors_ -= std::erase_if(kept.earlier, is_over);
    if (is_over(kept.latest))
      --tensors_;
    else
      kept.earlier.push_back(std::move(kept.latest));
  }
  kept.latest = {value.iteration, std::move(tensor)};
}

DeviceValues LiveValues::finish() && {
  const auto for_each_kept = [&](ValueId value, auto&& visit) {
    const std::span<const LogicalId> devices = holders_.of(value);
    for (size_t d = 0; d < devices.size(); ++d)
      visit(devices[d], kept_[first_[value.index()] + d]);
  };
  for (size_t v = 0; v < program_.values.size(); ++v) {
    const ValueId value(v);
    const LoopAround loop = iterations_->loop_of(value);
    if (program_.value(value).type.future) {
      for_each_kept(value, [](LogicalId, Kept& kept) { kept = {}; });
    } else if (iterations_->stands_for_another(value) && iterations_->runs(loop) > 0) {
      const ValueRun source = iterations_->source(value, loop, iterations_->runs(loop) - 1);
      for (const LogicalId device : holders_.of(value))
        if (const std::shared_ptr<Tensor>& tensor = find(source, device))
          given_.at(value, device) = *tensor;
    }
  }
  for (size_t v = 0; v < program_.values.size(); ++v)
    for_each_kept(ValueId(v), [&](LogicalId device, Kept& kept) {
      if (const std::shared_ptr<Tensor> tensor = std::move(kept.latest.tensor))
        given_.at(ValueId(v), device) =
            tensor.use_count() == 1 ? std::move(*tensor) : Tensor(*tensor);
    });
  return std::move(given_);
}

}  // namespace orrery
