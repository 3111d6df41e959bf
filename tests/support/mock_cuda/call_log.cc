#include "tests/support/mock_cuda/call_log.h"

namespace orrery::mock_cuda {

std::optional<cuda::CUresult> CallLog::enter(std::string_view entry_point) {
  const int64_t number = ++calls_[std::string(entry_point)];
  const auto failure = failures_.find({std::string(entry_point), number});
  if (failure == failures_.end())
    return std::nullopt;
  return failure->second;
}

void CallLog::fail(std::string_view entry_point, int64_t nth, cuda::CUresult code) {
  failures_[{std::string(entry_point), calls(entry_point) + nth}] = code;
}

int64_t CallLog::calls(std::string_view entry_point) const {
  const auto found = calls_.find(entry_point);
  return found == calls_.end() ? 0 : found->second;
}

void CallLog::write_down(std::string_view entry_point, std::string_view misuse) {
  misuses_ += entry_point;
  misuses_ += ": ";
  misuses_ += misuse;
  misuses_ += '\n';
}

}  // namespace orrery::mock_cuda
