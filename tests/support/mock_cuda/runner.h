#pragma once

// Runs what streams hold: always one of the nodes that are ready, whichever, of any stream.

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

  /// Gives a stream a run of `plan`. Nothing runs yet.
  void launch(Stream& stream, const std::shared_ptr<Plan>& plan);
  /// Gives a stream one thing to do; one that is captured keeps it for the graph.
  void give(Stream& stream, Work work);

  /// Gives the default stream of a device one thing to do.
  void launch_by_default(int device, Work work);

  // Run until the stream has nothing left, or the event has been recorded.
  void finish(const Stream& stream);
  void finish_default(int device);
  /// Runs all that a device has to do, whose context ends.
  void finish_context(int device);
  void finish(const Event& event);

  /// Whether work that has not ended may use any of those bytes.
  bool may_be_in_use(cuda::CUdeviceptr address, size_t size);
  int64_t nodes_run() const { return nodes_run_; }
  /// The code of work that failed: every synchronisation answers with it from then on.
  cuda::CUresult failure() const { return failure_; }

 private:
  std::vector<Stream*> streams();
  void run_one();
  void run_node(Stream& stream, size_t which);
  /// Does it, and returns how long it takes.
  ClockedNode perform(const Work& work);
  ClockedNode run_kernel(const KernelWork& work);
  ClockedNode run_copy(const CopyWork& work);
  ClockedNode run_fill(const FillWork& work);
  ClockedNode run_write(const WriteWork& work);
  ClockedNode run_product(const ProductWork& work);
  ClockedNode copying(size_t size, int device) const;
  /// Ends a launch all of whose nodes have run.
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
