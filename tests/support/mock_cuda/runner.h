#pragma once

// Runs the work of the streams: each time one of the ready nodes of any stream, chosen at random.

#include <cstdint>
#include <memory>
#include <vector>

#include "models/base/random.h"
#include "tests/support/mock_cuda/call_log.h"
#include "tests/support/mock_cuda/memory.h"
#include "tests/support/mock_cuda/things.h"

namespace orrery::mock_cuda {

class Runner {
 public:
  Runner(const MockCudaSettings& settings, Things& things, Memory& memory, CallLog& log);

  void seed(uint64_t seed) { random_ = Random(seed); }

  /// Adds a run of `plan` to the stream. Nothing runs yet.
  void launch(Stream& stream, const std::shared_ptr<Plan>& plan);
  /// Adds one piece of work to the stream. A captured stream keeps it for the graph.
  void give(Stream& stream, Work work);

  /// Adds one piece of work to the default stream of a device.
  void launch_by_default(int device, Work work);

  // These functions run work until the stream has nothing left or the event has been recorded.
  void finish(const Stream& stream);
  void finish_default(int device);
  /// Runs all work of a device, whose context ends.
  void finish_context(int device);
  void finish(const Event& event);

  /// Returns whether work that has not ended may use any of the bytes from `address` on.
  bool may_be_in_use(cuda::CUdeviceptr address, size_t size);
  int64_t nodes_run() const { return nodes_run_; }
  /// Returns the code of the work that failed. Every later synchronisation returns this code.
  cuda::CUresult failure() const { return failure_; }

 private:
  std::vector<Stream*> streams();
  void run_one();
  void run_node(Stream& stream, size_t which);
  /// Does the work, and returns how long it takes.
  ClockedNode perform(const Work& work);
  ClockedNode run_kernel(const KernelWork& work);
  ClockedNode run_copy(const CopyWork& work);
  ClockedNode run_fill(const FillWork& work);
  ClockedNode run_write(const WriteWork& work);
  ClockedNode run_product(const ProductWork& work);
  ClockedNode copying(size_t size, int device) const;
  /// Ends a launch of which all nodes have run.
  void end_launch(Stream& stream);

  MockCudaSettings settings_;
  Things& things_;
  Memory& memory_;
  CallLog& log_;
  Random random_;
  uint64_t launched_ = 0;
  int64_t nodes_run_ = 0;
  int64_t copies_run_ = 0;
  cuda::CUresult failure_ = cuda::CUDA_SUCCESS;
};

}  // namespace orrery::mock_cuda
