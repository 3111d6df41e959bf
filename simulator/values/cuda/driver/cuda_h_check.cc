// Our declarations say what cuda.h says. Compiled where a toolkit is; nothing here runs.

#include <type_traits>

#include <cuda.h>

#include "simulator/values/cuda/driver/entry_points.h"

#if CUDA_VERSION >= 12000

namespace orrery::cuda {
namespace {

/// The type of cuda.h that one of ours stands for: itself, unless it is in the list below.
template <class Ours>
struct Theirs {
  using Type = Ours;
};
template <class Ours>
using TheirsOf = typename Theirs<Ours>::Type;

template <class Ours>
struct Theirs<Ours*> {
  using Type = TheirsOf<Ours>*;
};
template <class Ours>
struct Theirs<const Ours> {
  using Type = const TheirsOf<Ours>;
};
template <class... Ours>
struct Theirs<CUresult(Ours...)> {
  using Type = ::CUresult(TheirsOf<Ours>...);
};

#define ORRERY_STANDS_FOR(name) \
  template <>                   \
  struct Theirs<name> {         \
    using Type = ::name;        \
  };                            \
  static_assert(sizeof(name) == sizeof(::name) && alignof(name) == alignof(::name))

ORRERY_STANDS_FOR(CUresult);
ORRERY_STANDS_FOR(CUdevice_attribute);
ORRERY_STANDS_FOR(CUjit_option);
ORRERY_STANDS_FOR(CUstreamCaptureMode);
ORRERY_STANDS_FOR(CUmemAllocationType);
ORRERY_STANDS_FOR(CUmemAllocationHandleType);
ORRERY_STANDS_FOR(CUmemLocationType);
ORRERY_STANDS_FOR(CUmemAccess_flags);
ORRERY_STANDS_FOR(CUmemAllocationGranularity_flags);
ORRERY_STANDS_FOR(CUmemorytype);
ORRERY_STANDS_FOR(CUuuid);
ORRERY_STANDS_FOR(CUmemLocation);
ORRERY_STANDS_FOR(CUmemAllocationProp);
ORRERY_STANDS_FOR(CUmemAccessDesc);
ORRERY_STANDS_FOR(CUDA_MEMCPY3D);
ORRERY_STANDS_FOR(CUDA_MEMSET_NODE_PARAMS);
ORRERY_STANDS_FOR(CUDA_KERNEL_NODE_PARAMS);

// Handles are pointers to what nobody sees.
#define ORRERY_HANDLE(name)                     \
  template <>                                   \
  struct Theirs<std::remove_pointer_t<name>> {  \
    using Type = std::remove_pointer_t<::name>; \
  }

ORRERY_HANDLE(CUcontext);
ORRERY_HANDLE(CUmodule);
ORRERY_HANDLE(CUfunction);
ORRERY_HANDLE(CUkernel);
ORRERY_HANDLE(CUarray);
ORRERY_HANDLE(CUstream);
ORRERY_HANDLE(CUevent);
ORRERY_HANDLE(CUgraph);
ORRERY_HANDLE(CUgraphNode);
ORRERY_HANDLE(CUgraphExec);

static_assert(std::is_same_v<CUdevice, ::CUdevice>);
static_assert(std::is_same_v<CUdeviceptr, ::CUdeviceptr>);
static_assert(std::is_same_v<CUmemGenericAllocationHandle, ::CUmemGenericAllocationHandle>);

// The signatures. cuda.h declares each under the name that the library exports.
#define ORRERY_SAME_SIGNATURE(name, exported, parameters) \
  static_assert(std::is_same_v<TheirsOf<CUresult parameters>, decltype(::exported)>);
ORRERY_CUDA_ENTRY_POINTS(ORRERY_SAME_SIGNATURE)

// The members: each of its type, at its place.
#define ORRERY_SAME_MEMBER(type, member)                                                      \
  static_assert(std::is_same_v<TheirsOf<decltype(type::member)>, decltype(::type::member)> && \
                offsetof(type, member) == offsetof(::type, member))

ORRERY_SAME_MEMBER(CUmemLocation, type);
ORRERY_SAME_MEMBER(CUmemLocation, id);
ORRERY_SAME_MEMBER(CUmemAllocationProp, type);
ORRERY_SAME_MEMBER(CUmemAllocationProp, requestedHandleTypes);
ORRERY_SAME_MEMBER(CUmemAllocationProp, location);
ORRERY_SAME_MEMBER(CUmemAllocationProp, win32HandleMetaData);
ORRERY_SAME_MEMBER(CUmemAccessDesc, location);
ORRERY_SAME_MEMBER(CUmemAccessDesc, flags);
static_assert(offsetof(CUmemAllocationProp, allocFlags) ==
              offsetof(::CUmemAllocationProp, allocFlags));

ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, srcXInBytes);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, srcY);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, srcZ);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, srcLOD);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, srcMemoryType);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, srcHost);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, srcDevice);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, srcArray);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, reserved0);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, srcPitch);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, srcHeight);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, dstXInBytes);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, dstY);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, dstZ);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, dstLOD);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, dstMemoryType);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, dstHost);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, dstDevice);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, dstArray);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, reserved1);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, dstPitch);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, dstHeight);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, WidthInBytes);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, Height);
ORRERY_SAME_MEMBER(CUDA_MEMCPY3D, Depth);

ORRERY_SAME_MEMBER(CUDA_MEMSET_NODE_PARAMS, dst);
ORRERY_SAME_MEMBER(CUDA_MEMSET_NODE_PARAMS, pitch);
ORRERY_SAME_MEMBER(CUDA_MEMSET_NODE_PARAMS, value);
ORRERY_SAME_MEMBER(CUDA_MEMSET_NODE_PARAMS, elementSize);
ORRERY_SAME_MEMBER(CUDA_MEMSET_NODE_PARAMS, width);
ORRERY_SAME_MEMBER(CUDA_MEMSET_NODE_PARAMS, height);

ORRERY_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, func);
ORRERY_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, gridDimX);
ORRERY_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, gridDimY);
ORRERY_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, gridDimZ);
ORRERY_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, blockDimX);
ORRERY_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, blockDimY);
ORRERY_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, blockDimZ);
ORRERY_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes);
ORRERY_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, kernelParams);
ORRERY_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, extra);
ORRERY_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, kern);
ORRERY_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, ctx);

// The constants.
#define ORRERY_SAME_CONSTANT(name) \
  static_assert(static_cast<long long>(name) == static_cast<long long>(::name))

ORRERY_SAME_CONSTANT(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
ORRERY_SAME_CONSTANT(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
ORRERY_SAME_CONSTANT(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
ORRERY_SAME_CONSTANT(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
ORRERY_SAME_CONSTANT(CU_JIT_ERROR_LOG_BUFFER);
ORRERY_SAME_CONSTANT(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
ORRERY_SAME_CONSTANT(CU_STREAM_NON_BLOCKING);
ORRERY_SAME_CONSTANT(CU_STREAM_CAPTURE_MODE_RELAXED);
ORRERY_SAME_CONSTANT(CU_EVENT_DEFAULT);
ORRERY_SAME_CONSTANT(CU_MEM_ALLOCATION_TYPE_PINNED);
ORRERY_SAME_CONSTANT(CU_MEM_HANDLE_TYPE_NONE);
ORRERY_SAME_CONSTANT(CU_MEM_LOCATION_TYPE_DEVICE);
ORRERY_SAME_CONSTANT(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
ORRERY_SAME_CONSTANT(CU_MEM_ALLOC_GRANULARITY_MINIMUM);
ORRERY_SAME_CONSTANT(CU_MEMORYTYPE_UNIFIED);
static_assert(kLaunchParamEnd == CU_LAUNCH_PARAM_END_AS_INT);
static_assert(kLaunchParamBuffer == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT);
static_assert(kLaunchParamBufferSize == CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT);

#if CUDA_VERSION >= 13000  // the version of our list of codes
#define ORRERY_SAME_CODE(name, code) \
  static_assert(static_cast<unsigned int>(::name) == static_cast<unsigned int>(name));
ORRERY_CUDA_RESULTS(ORRERY_SAME_CODE)
#endif

}  // namespace
}  // namespace orrery::cuda

#endif
