// Defines the entry points of the library, of devices and of contexts.

#include <algorithm>
#include <cstring>

#include "tests/support/mock_cuda/exports.h"
#include "tests/support/mock_cuda/state.h"

namespace orrery::cuda {

using mock_cuda::call;
using mock_cuda::CallKind;
using mock_cuda::Misuse;
using mock_cuda::State;

CUresult cuInit(unsigned int flags) {
  State& s = mock_cuda::state();
  if (const auto told = s.log.enter("cuInit"))
    return *told;
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  s.initialised = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  State& s = mock_cuda::state();
  if (const auto told = s.log.enter("cuDriverGetVersion"))
    return *told;
  *version = s.settings.driver_version;
  return CUDA_SUCCESS;
}

// This knows one code only, which no version of CUDA has: our own table has the other codes.
CUresult cuGetErrorName(CUresult code, const char** text) {
  *text = code == 4242 ? "CUDA_ERROR_OF_THE_MOCK" : nullptr;
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult code, const char** text) {
  *text = code == 4242 ? "the mock was told to fail" : nullptr;
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  return call("cuDeviceGetCount", [&](State& s) { *count = s.settings.devices; });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return call("cuDeviceGet", [&](State& s) {
    s.check_device(ordinal);
    *device = ordinal;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return call("cuDeviceGetName", [&](State& s) {
    s.check_device(device);
    const std::string text = fmt::format("Mock GPU {}", device);
    const size_t fits = std::min(text.size(), static_cast<size_t>(length) - 1);
    std::memcpy(name, text.data(), fits);
    name[fits] = '\0';
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return call("cuDeviceGetUuid", [&](State& s) {
    s.check_device(device);
    for (char& byte : uuid->bytes)
      byte = static_cast<char>(0xa0 + device);
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return call("cuDeviceGetAttribute", [&](State& s) {
    s.check_device(device);
    switch (attribute) {
      case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = s.settings.multiprocessors;
        return;
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = s.settings.compute_capability / 10;
        return;
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = s.settings.compute_capability % 10;
        return;
      case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
        *value = s.settings.virtual_memory;
        return;
    }
    throw Misuse(CUDA_ERROR_INVALID_VALUE,
                 fmt::format("attribute {}", static_cast<unsigned int>(attribute)));
  });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return call("cuDeviceTotalMem", [&](State& s) {
    s.check_device(device);
    *bytes = s.settings.memory;
  });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return call("cuDeviceCanAccessPeer", [&](State& s) {
    s.check_device(device);
    s.check_device(peer);
    *can = device != peer && s.settings.peers != 0 ? 1 : 0;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return call("cuDevicePrimaryCtxRetain", [&](State& s) {
    s.check_device(device);
    for (auto& [number, known] : s.things.contexts.all())
      if (known.device == device) {
        ++known.retained;
        *context = reinterpret_cast<CUcontext>(static_cast<uintptr_t>(number));
        return;
      }
    *context = s.things.contexts.add({device, 1, {}});
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return call("cuDevicePrimaryCtxRelease", CallKind::Destroys, [&](State& s) {
    s.check_device(device);
    auto& contexts = s.things.contexts.all();
    const auto found = std::find_if(contexts.begin(), contexts.end(), [&](const auto& entry) {
      return entry.second.device == device;
    });
    if (found == contexts.end())
      throw Misuse(CUDA_ERROR_INVALID_CONTEXT,
                   fmt::format("the context of device {} is not there", device));
    if (--found->second.retained > 0)
      return;
    s.runner.finish_context(device);
    if (s.things.contexts.has(s.current) && &s.things.contexts.at(s.current) == &found->second)
      s.current = nullptr;
    contexts.erase(found);
    const auto lives = [&](auto& handles) {
      for (const auto& [number, thing] : handles.all())
        if (thing.device == device)
          throw Misuse(
              CUDA_ERROR_INVALID_CONTEXT,
              fmt::format("the context of device {} ended before a {}", device, handles.noun()));
    };
    lives(s.things.modules);
    lives(s.things.streams);
    lives(s.things.events);
    lives(s.things.cublaslt_handles);
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return call("cuCtxSetCurrent", [&](State& s) {
    if (context != nullptr)
      s.things.contexts.at(context);
    s.current = context;
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
  return call("cuCtxEnablePeerAccess", [&](State& s) {
    mock_cuda::Context& context = s.context();
    const int device = s.things.contexts.at(peer).device;
    if (flags != 0 || device == context.device)
      throw Misuse(CUDA_ERROR_INVALID_DEVICE, "a device is no peer of its own");
    if (s.settings.peers == 0)
      throw Misuse(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "the devices do not see each other");
    if (std::count(context.peers.begin(), context.peers.end(), device) != 0)
      throw mock_cuda::Refusal{CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED};
    context.peers.push_back(device);
  });
}

}  // namespace orrery::cuda
