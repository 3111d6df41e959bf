#pragma once

// `CallLog` knows which entry points were called, which calls are to fail, and the misuses.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "simulator/values/cuda/driver/cuda_api.h"

namespace orrery::mock_cuda {

class CallLog {
 public:
  /// Counts a call. Returns the code of the failure that is set for this call, if any.
  std::optional<cuda::CUresult> enter(std::string_view entry_point);

  void fail(std::string_view entry_point, int64_t nth, cuda::CUresult code);
  int64_t calls(std::string_view entry_point) const;

  void write_down(std::string_view entry_point, std::string_view misuse);
  const std::string& misuses() const { return misuses_; }

 private:
  std::map<std::string, int64_t, std::less<>> calls_;
  std::map<std::pair<std::string, int64_t>, cuda::CUresult> failures_;  // by entry point and call
  std::string misuses_;
};

}  // namespace orrery::mock_cuda
