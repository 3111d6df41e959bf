#include "tests/support/mock_cuda/runner.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "models/base/callable.h"
#include "models/base/check.h"
#include "tests/support/mock_cuda/product.h"

namespace orrery::mock_cuda {
namespace {

/// A kernel's items are split into at most this many parts.
constexpr uint64_t kMostParts = 64;

/// Returns whether the first launch of a stream may run: launches of one plan do not overlap.
bool may_run(const Stream& stream) {
  return !stream.launches.empty() &&
         stream.launches.front().plan->in_flight.front() == stream.launches.front().number;
}

}  // namespace

Runner::Runner(const MockCudaSettings& settings, Things& things, Memory& memory, CallLog& log)
    : settings_(settings), things_(things), memory_(memory), log_(log), random_(settings.seed) {}

void Runner::launch(Stream& stream, const std::shared_ptr<Plan>& plan) {
  Launch launch;
  launch.plan = plan;
  launch.number = ++launched_;
  launch.left = plan->nodes.size();
  launch.clocked.resize(launch.left);
  for (size_t n = 0; n < launch.left; ++n) {
    const Node& node = plan->nodes[n];
    launch.waits.push_back(node.after.size());
    if (node.after.empty())
      launch.ready.push_back(n);
    if (const auto* const record = std::get_if<RecordWork>(&node.work))
      ++things_.events.at(record->event).pending;
  }
  plan->in_flight.push_back(launch.number);
  stream.launches.push_back(std::move(launch));
}

void Runner::give(Stream& stream, Work work) {
  if (!stream.captured)
    return launch(stream,
                  std::make_shared<Plan>(std::vector<Node>{{std::move(work), {}}}, std::nullopt));
  std::vector<Node>& nodes = stream.captured->nodes;
  std::vector<size_t> after;
  if (!nodes.empty())
    after.push_back(nodes.size() - 1);
  nodes.push_back({std::move(work), std::move(after)});
}

void Runner::finish(const Stream& stream) {
  while (!stream.launches.empty())
    run_one();
}

void Runner::finish(const Event& event) {
  while (event.pending > 0)
    run_one();
}

void Runner::launch_by_default(int device, Work work) {
  launch(things_.default_streams.try_emplace(device, Stream{device, {}, 0}).first->second,
         std::make_shared<Plan>(std::vector<Node>{{std::move(work), {}}}, std::nullopt));
}

void Runner::finish_context(int device) {
  for (const Stream* const stream : streams())
    if (stream->device == device)
      finish(*stream);
  things_.default_streams.erase(device);
  things_.destroyed_streams.remove_if(
      [&](const Stream& stream) { return stream.device == device; });
}

void Runner::finish_default(int device) {
  const auto found = things_.default_streams.find(device);
  if (found != things_.default_streams.end())
    finish(found->second);
}

/// Returns all streams, in a fixed order.
std::vector<Stream*> Runner::streams() {
  std::vector<Stream*> all;
  for (auto& [device, stream] : things_.default_streams)
    all.push_back(&stream);
  for (auto& [number, stream] : things_.streams.all())
    all.push_back(&stream);
  for (Stream& stream : things_.destroyed_streams)
    all.push_back(&stream);
  return all;
}

bool Runner::may_be_in_use(cuda::CUdeviceptr address, size_t size) {
  for (const Stream* const stream : streams())
    for (const Launch& launch : stream->launches)
      for (const Node& node : launch.plan->nodes)
        if (may_touch(node.work, address, size))
          return true;
  return false;
}

void Runner::run_one() {
  std::vector<Stream*> able = streams();
  std::erase_if(able, [](const Stream* stream) { return !may_run(*stream); });
  size_t ready = 0;
  for (const Stream* const stream : able)
    ready += stream->launches.front().ready.size();
  ORRERY_CHECK(ready > 0, "something of a graph without cycles can run");
  size_t which = random_.below(ready);
  for (Stream* const stream : able) {
    const size_t here = stream->launches.front().ready.size();
    if (which < here)
      return run_node(*stream, which);
    which -= here;
  }
}

void Runner::run_node(Stream& stream, size_t which) {
  Launch& launch = stream.launches.front();
  Plan& plan = *launch.plan;
  if (!std::exchange(launch.begun, true))
    launch.begin = std::max(stream.now, plan.free_at) + plan.launch_ps.value_or(0);
  const size_t n = launch.ready[which];
  launch.ready[which] = launch.ready.back();
  launch.ready.pop_back();

  ClockedNode& clocked = launch.clocked[n];
  try {
    clocked = perform(plan.nodes[n].work);
  } catch (const Misuse& misuse) {
    log_.write_down("a node that runs", misuse.what());
    failure_ = misuse.code();
  }
  clocked.after = plan.nodes[n].after;
  nodes_run_ += plan.launch_ps ? 1 : 0;
  for (const size_t next : plan.successors[n])
    if (--launch.waits[next] == 0)
      launch.ready.push_back(next);
  if (--launch.left == 0)
    end_launch(stream);
}

void Runner::end_launch(Stream& stream) {
  const Launch& launch = stream.launches.front();
  Plan& plan = *launch.plan;
  const std::vector<int64_t> ends =
      ends_of(launch.clocked, launch.begin, settings_.sharing != 0 ? Sharing::Yes : Sharing::No);
  for (size_t n = 0; n < plan.nodes.size(); ++n) {
    if (const auto* const record = std::get_if<RecordWork>(&plan.nodes[n].work)) {
      Event& event = things_.events.at(record->event);
      --event.pending;
      event.time = ends[n];
    }
  }
  plan.free_at = *std::max_element(ends.begin(), ends.end());
  stream.now = plan.free_at;
  plan.in_flight.pop_front();
  stream.launches.pop_front();
}

ClockedNode Runner::perform(const Work& work) {
  return std::visit(
      Overloaded{[&](const KernelWork& kernel) { return run_kernel(kernel); },
                 [&](const CopyWork& copy) { return run_copy(copy); },
                 [&](const FillWork& fill) { return run_fill(fill); },
                 [&](const WriteWork& write) { return run_write(write); },
                 [&](const ProductWork& product) { return run_product(product); },
                 [](RecordWork) { return ClockedNode(); }, [](JoinWork) { return ClockedNode(); }},
      work);
}

ClockedNode Runner::run_kernel(const KernelWork& work) {
  things_.functions.at(work.function);  // its module was not unloaded
  const uint64_t parts = 1 + random_.below(std::min(work.threads, kMostParts));
  std::vector<int64_t> order(parts);
  for (uint64_t p = 0; p < parts; ++p)
    order[p] = static_cast<int64_t>(p);
  for (uint64_t p = parts; p > 1; --p)
    std::swap(order[p - 1], order[random_.below(p)]);
  for (const int64_t first : order)
    if (settings_.computes != 0)
      work.kernel->run(work.argument.data(), first, static_cast<int64_t>(parts));
  return {settings_.kernel_ps,
          settings_.thread_ps * static_cast<int64_t>(work.threads) +
              settings_.product_ps * products_of(work),
          things_.functions.at(work.function).device,
          {}};
}

ClockedNode Runner::copying(size_t size, int device) const {
  const auto bytes = static_cast<double>(size);
  return {settings_.copy_ps,
          static_cast<int64_t>(bytes * 1e12 / static_cast<double>(settings_.bytes_per_second)),
          device,
          {}};
}

ClockedNode Runner::run_copy(const CopyWork& work) {
  const auto at = [&](cuda::CUdeviceptr address) {
    return memory_.bytes(address, work.size, work.device, cuda::CUDA_ERROR_ILLEGAL_ADDRESS);
  };
  std::byte* const to = at(work.to);
  const std::byte* const from = at(work.from);
  if (settings_.computes != 0)
    std::memmove(to, from, work.size);
  if (++copies_run_ == settings_.stray_copy)
    *memory_.bytes(work.to + work.size, 1, work.device, cuda::CUDA_ERROR_ILLEGAL_ADDRESS) ^=
        std::byte{0xff};
  return copying(work.size, work.device);
}

ClockedNode Runner::run_fill(const FillWork& work) {
  std::byte* const to =
      memory_.bytes(work.to, work.size, work.device, cuda::CUDA_ERROR_ILLEGAL_ADDRESS);
  for (size_t at = 0; settings_.computes != 0 && at < work.size; at += work.element_size)
    std::memcpy(to + at, &work.value, work.element_size);
  return copying(work.size, work.device);
}

ClockedNode Runner::run_write(const WriteWork& work) {
  std::byte* const to =
      memory_.bytes(work.to, work.bytes.size(), work.device, cuda::CUDA_ERROR_ILLEGAL_ADDRESS);
  std::memcpy(to, work.bytes.data(), work.bytes.size());
  return copying(work.bytes.size(), work.device);
}

ClockedNode Runner::run_product(const ProductWork& work) {
  if (settings_.computes != 0)
    multiply(work, memory_, settings_.product_errors != 0);
  return {settings_.kernel_ps,
          settings_.product_ps * work.d.batch * work.d.rows * work.d.columns * work.depth(),
          work.device,
          {}};
}

}  // namespace orrery::mock_cuda
