#include "simulator/values/cuda/copy_rates.h"

#include <algorithm>
#include <array>
#include <memory>

#include "models/base/compiler.h"
#include "simulator/values/cuda/driver/arena.h"
#include "simulator/values/cuda/node_timer.h"

namespace orrery::cuda {

namespace {

constexpr Bytes kMostCopied(int64_t{256} << 20U);
constexpr Bytes kLeastCopied(int64_t{64} << 10U);

BytesPerSecond rate(Bytes size, Duration time) {
  constexpr int64_t kPicoseconds = 1'000'000'000'000;
  if (time == Duration())
    return BytesPerSecond(0);
  return BytesPerSecond(static_cast<int64_t>(Int128{size.count()} * kPicoseconds / time.count()));
}

}  // namespace

std::optional<CopyRates> copy_rates(const Gpus& gpus) {
  Bytes size = kMostCopied;
  for (size_t g = 0; g < gpus.size(); ++g)
    size = std::min(size, Bytes(gpus[g].memory().free.count() / 128));
  size = Bytes(size.count() / kLeastCopied.count() * kLeastCopied.count());
  if (size == Bytes())
    return std::nullopt;
  std::vector<std::unique_ptr<DeviceArena>> arenas;  // two of each GPU
  for (size_t g = 0; g < gpus.size(); ++g)
    for (int i = 0; i < 2; ++i)
      arenas.push_back(
          std::make_unique<DeviceArena>(gpus, g, ArenaSize{size, size}, "what is copied"));
  std::vector<std::unique_ptr<KernelModule>> none;
  const NodeTimer timer(gpus, none);
  const auto measured = [&](size_t gpu, size_t from, size_t to) {
    const std::array<Lane, 1> lane = {
        Lane{gpu, Copy{arenas[to]->address(), arenas[from]->address(), size}}};
    return rate(size, timer.node(lane));
  };
  CopyRates rates;
  rates.size = size;
  for (size_t g = 0; g < gpus.size(); ++g)
    rates.in_gpu.push_back(measured(g, 2 * g, 2 * g + 1));
  if (gpus.size() > 1)
    rates.to_next = measured(0, 0, 3);
  return rates;
}

}  // namespace orrery::cuda
