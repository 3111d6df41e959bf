#pragma once

// The kernels as code of the device. The build embeds it (tools/build/device_image.py).

#include <cstddef>
#include <span>
#include <string_view>

namespace orrery::cuda {

struct Image {
  /// For some GPUs as it is, and for newer ones as PTX; empty where nvcc was not there.
  std::span<const std::byte> fatbin;
  /// For every GPU since Ampere and every driver since 450. A zero follows.
  std::string_view ptx;
};

Image kernel_image();

}  // namespace orrery::cuda
