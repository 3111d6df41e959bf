// Defines the entry points of streams and events, and of kernels that are launched by themselves.

#include <optional>
#include <utility>

#include "tests/support/mock_cuda/exports.h"
#include "tests/support/mock_cuda/launch_argument.h"
#include "tests/support/mock_cuda/state.h"

namespace orrery::cuda {

using mock_cuda::call;
using mock_cuda::CallKind;
using mock_cuda::Misuse;
using mock_cuda::Refusal;
using mock_cuda::State;

namespace {

/// A failure of work is reported to the call that waits for the work.
void tell_failure(const State& s) {
  if (s.runner.failure() != CUDA_SUCCESS)
    throw Refusal{s.runner.failure()};
}

/// A captured stream runs nothing, so nothing may wait for it.
void must_run(const mock_cuda::Stream& stream) {
  if (stream.captured)
    throw Misuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is captured");
}

}  // namespace

CUresult cuStreamCreate(CUstream* stream, unsigned int) {
  return call("cuStreamCreate", [&](State& s) {
    *stream = s.things.streams.add({s.context().device, {}, 0});
  });
}

// The work that the stream still has goes on.
CUresult cuStreamDestroy_v2(CUstream stream) {
  return call("cuStreamDestroy", CallKind::Destroys, [&](State& s) {
    must_run(s.things.streams.at(stream));
    s.things.destroyed_streams.push_back(std::move(s.things.streams.at(stream)));
    s.things.streams.remove(stream);
  });
}

CUresult cuStreamSynchronize(CUstream stream) {
  return call("cuStreamSynchronize", [&](State& s) {
    if (stream == nullptr) {
      s.runner.finish_default(s.context().device);
    } else {
      must_run(s.things.streams.at(stream));
      s.runner.finish(s.things.streams.at(stream));
    }
    tell_failure(s);
  });
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode) {
  return call("cuStreamBeginCapture", [&](State& s) {
    mock_cuda::Stream& begun = s.things.streams.at(stream);
    if (begun.captured)
      throw Misuse(CUDA_ERROR_ILLEGAL_STATE, "the stream is captured already");
    begun.captured.emplace();
  });
}

// A call that is set to fail still ends the capture, and makes no graph.
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  *graph = nullptr;
  std::optional<mock_cuda::Graph> captured;
  const CUresult code = call("cuStreamEndCapture", CallKind::Destroys, [&](State& s) {
    mock_cuda::Stream& ended = s.things.streams.at(stream);
    if (!ended.captured)
      throw Misuse(CUDA_ERROR_ILLEGAL_STATE, "the stream is not captured");
    captured = std::exchange(ended.captured, std::nullopt);
  });
  if (code == CUDA_SUCCESS)
    *graph = mock_cuda::state().things.graphs.add(std::move(*captured));
  return code;
}

CUresult cuEventCreate(CUevent* event, unsigned int) {
  return call("cuEventCreate", [&](State& s) {
    *event = s.things.events.add({s.context().device, 0, {}});
  });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return call("cuEventDestroy", CallKind::Destroys, [&](State& s) {
    s.runner.finish(s.things.events.at(event));
    s.things.events.remove(event);
  });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return call("cuEventRecord", [&](State& s) {
    if (s.things.events.at(event).device != s.things.streams.at(stream).device)
      throw Misuse(CUDA_ERROR_INVALID_HANDLE, "the event and the stream are of two devices");
    must_run(s.things.streams.at(stream));
    s.runner.give(s.things.streams.at(stream), mock_cuda::RecordWork{event});
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return call("cuEventSynchronize", [&](State& s) {
    s.runner.finish(s.things.events.at(event));
    tell_failure(s);
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return call("cuEventElapsedTime", [&](State& s) {
    const mock_cuda::Event& from = s.things.events.at(start);
    const mock_cuda::Event& to = s.things.events.at(end);
    if (from.device != to.device)
      throw Misuse(CUDA_ERROR_INVALID_HANDLE, "the events are of two devices");
    if (from.pending > 0 || to.pending > 0)
      throw Misuse(CUDA_ERROR_NOT_READY, "an event has not been waited for");
    if (!from.time || !to.time)
      throw Misuse(CUDA_ERROR_INVALID_HANDLE, "an event was never recorded");
    *milliseconds = static_cast<float>(static_cast<double>(*to.time - *from.time) * 1e-9);
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void** parameters, void** extra) {
  return call("cuLaunchKernel", [&](State& s) {
    const CUDA_KERNEL_NODE_PARAMS node = {function,   grid_x,  grid_y,  grid_z,
                                          block_x,    block_y, block_z, shared_bytes,
                                          parameters, extra,   nullptr, nullptr};
    mock_cuda::KernelWork work = mock_cuda::kernel_work(s, node);
    if (s.things.functions.at(function).device != s.things.streams.at(stream).device)
      throw Misuse(CUDA_ERROR_INVALID_HANDLE, "the kernel and the stream are of two devices");
    s.runner.give(s.things.streams.at(stream), std::move(work));
  });
}

}  // namespace orrery::cuda
