#pragma once

// This file declares the driver of CUDA as we call it: its codes, the types that its entry points
// take, and the entry points. The names are those of NVIDIA's documentation. The declarations are
// our own, so no toolkit is needed to build. If there is one, cuda_h_check.cc compares them with
// cuda.h.

#include <cstddef>
#include <cstdint>

// The codes that the driver of CUDA 13.0 answers with, each with its name. We keep the names
// ourselves, since a stub of the driver names none.

#define ORRERY_CUDA_RESULTS(X)                      \
  X(CUDA_SUCCESS, 0)                                \
  X(CUDA_ERROR_INVALID_VALUE, 1)                    \
  X(CUDA_ERROR_OUT_OF_MEMORY, 2)                    \
  X(CUDA_ERROR_NOT_INITIALIZED, 3)                  \
  X(CUDA_ERROR_DEINITIALIZED, 4)                    \
  X(CUDA_ERROR_PROFILER_DISABLED, 5)                \
  X(CUDA_ERROR_PROFILER_NOT_INITIALIZED, 6)         \
  X(CUDA_ERROR_PROFILER_ALREADY_STARTED, 7)         \
  X(CUDA_ERROR_PROFILER_ALREADY_STOPPED, 8)         \
  X(CUDA_ERROR_STUB_LIBRARY, 34)                    \
  X(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, 36)      \
  X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46)              \
  X(CUDA_ERROR_NO_DEVICE, 100)                      \
  X(CUDA_ERROR_INVALID_DEVICE, 101)                 \
  X(CUDA_ERROR_DEVICE_NOT_LICENSED, 102)            \
  X(CUDA_ERROR_INVALID_IMAGE, 200)                  \
  X(CUDA_ERROR_INVALID_CONTEXT, 201)                \
  X(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, 202)        \
  X(CUDA_ERROR_MAP_FAILED, 205)                     \
  X(CUDA_ERROR_UNMAP_FAILED, 206)                   \
  X(CUDA_ERROR_ARRAY_IS_MAPPED, 207)                \
  X(CUDA_ERROR_ALREADY_MAPPED, 208)                 \
  X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)              \
  X(CUDA_ERROR_ALREADY_ACQUIRED, 210)               \
  X(CUDA_ERROR_NOT_MAPPED, 211)                     \
  X(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, 212)            \
  X(CUDA_ERROR_NOT_MAPPED_AS_POINTER, 213)          \
  X(CUDA_ERROR_ECC_UNCORRECTABLE, 214)              \
  X(CUDA_ERROR_UNSUPPORTED_LIMIT, 215)              \
  X(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, 216)         \
  X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217)        \
  X(CUDA_ERROR_INVALID_PTX, 218)                    \
  X(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, 219)       \
  X(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)           \
  X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)         \
  X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)        \
  X(CUDA_ERROR_JIT_COMPILATION_DISABLED, 223)       \
  X(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, 224)      \
  X(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, 225)       \
  X(CUDA_ERROR_CONTAINED, 226)                      \
  X(CUDA_ERROR_INVALID_SOURCE, 300)                 \
  X(CUDA_ERROR_FILE_NOT_FOUND, 301)                 \
  X(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, 302) \
  X(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, 303)      \
  X(CUDA_ERROR_OPERATING_SYSTEM, 304)               \
  X(CUDA_ERROR_INVALID_HANDLE, 400)                 \
  X(CUDA_ERROR_ILLEGAL_STATE, 401)                  \
  X(CUDA_ERROR_LOSSY_QUERY, 402)                    \
  X(CUDA_ERROR_NOT_FOUND, 500)                      \
  X(CUDA_ERROR_NOT_READY, 600)                      \
  X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                \
  X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)        \
  X(CUDA_ERROR_LAUNCH_TIMEOUT, 702)                 \
  X(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, 703)  \
  X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)    \
  X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 705)        \
  X(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, 708)         \
  X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)           \
  X(CUDA_ERROR_ASSERT, 710)                         \
  X(CUDA_ERROR_TOO_MANY_PEERS, 711)                 \
  X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712) \
  X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713)     \
  X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714)           \
  X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)            \
  X(CUDA_ERROR_MISALIGNED_ADDRESS, 716)             \
  X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)          \
  X(CUDA_ERROR_INVALID_PC, 718)                     \
  X(CUDA_ERROR_LAUNCH_FAILED, 719)                  \
  X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720)   \
  X(CUDA_ERROR_TENSOR_MEMORY_LEAK, 721)             \
  X(CUDA_ERROR_NOT_PERMITTED, 800)                  \
  X(CUDA_ERROR_NOT_SUPPORTED, 801)                  \
  X(CUDA_ERROR_SYSTEM_NOT_READY, 802)               \
  X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)         \
  X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804) \
  X(CUDA_ERROR_MPS_CONNECTION_FAILED, 805)          \
  X(CUDA_ERROR_MPS_RPC_FAILURE, 806)                \
  X(CUDA_ERROR_MPS_SERVER_NOT_READY, 807)           \
  X(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, 808)        \
  X(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, 809)    \
  X(CUDA_ERROR_MPS_CLIENT_TERMINATED, 810)          \
  X(CUDA_ERROR_CDP_NOT_SUPPORTED, 811)              \
  X(CUDA_ERROR_CDP_VERSION_MISMATCH, 812)           \
  X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)     \
  X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901)     \
  X(CUDA_ERROR_STREAM_CAPTURE_MERGE, 902)           \
  X(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903)       \
  X(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, 904)        \
  X(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905)       \
  X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906)        \
  X(CUDA_ERROR_CAPTURED_EVENT, 907)                 \
  X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908)    \
  X(CUDA_ERROR_TIMEOUT, 909)                        \
  X(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910)      \
  X(CUDA_ERROR_EXTERNAL_DEVICE, 911)                \
  X(CUDA_ERROR_INVALID_CLUSTER_SIZE, 912)           \
  X(CUDA_ERROR_FUNCTION_NOT_LOADED, 913)            \
  X(CUDA_ERROR_INVALID_RESOURCE_TYPE, 914)          \
  X(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, 915) \
  X(CUDA_ERROR_KEY_ROTATION, 916)                   \
  X(CUDA_ERROR_UNKNOWN, 999)

namespace orrery::cuda {

// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): the names are given
enum CUresult : unsigned int {
#define ORRERY_CUDA_RESULT(name, code) name = code,
  ORRERY_CUDA_RESULTS(ORRERY_CUDA_RESULT)
#undef ORRERY_CUDA_RESULT
};
// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)

}  // namespace orrery::cuda

// NOLINTBEGIN(readability-identifier-naming): the names are given

namespace orrery::cuda {

using CUdevice = int;                    // a GPU's number among those visible
using CUdeviceptr = unsigned long long;  // one address space for all GPUs and the host
using CUmemGenericAllocationHandle = unsigned long long;  // memory that is not mapped yet

using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUkernel = struct CUkern_st*;
using CUarray = struct CUarray_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;

struct CUuuid {
  char bytes[16];
};

enum CUdevice_attribute : unsigned int {
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
};

enum CUjit_option : unsigned int {
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
};

enum CUstream_flags : unsigned int { CU_STREAM_NON_BLOCKING = 1 };
enum CUstreamCaptureMode : unsigned int { CU_STREAM_CAPTURE_MODE_RELAXED = 2 };
enum CUevent_flags : unsigned int { CU_EVENT_DEFAULT = 0 };

// The next types describe virtual memory.

enum CUmemAllocationType : unsigned int { CU_MEM_ALLOCATION_TYPE_PINNED = 1 };
enum CUmemAllocationHandleType : unsigned int { CU_MEM_HANDLE_TYPE_NONE = 0 };
enum CUmemLocationType : unsigned int { CU_MEM_LOCATION_TYPE_DEVICE = 1 };
enum CUmemAccess_flags : unsigned int { CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3 };
enum CUmemAllocationGranularity_flags : unsigned int { CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0 };

struct CUmemLocation {
  CUmemLocationType type;
  int id;  // a CUdevice
};

struct CUmemAllocationProp {
  CUmemAllocationType type;
  CUmemAllocationHandleType requestedHandleTypes;
  CUmemLocation location;
  void* win32HandleMetaData;
  struct {
    unsigned char compressionType;
    unsigned char gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
  } allocFlags;
};

struct CUmemAccessDesc {
  CUmemLocation location;
  CUmemAccess_flags flags;
};

// The next types describe nodes of graphs.

enum CUmemorytype : unsigned int { CU_MEMORYTYPE_UNIFIED = 4 };

struct CUDA_MEMCPY3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  CUmemorytype srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  void* reserved0;
  size_t srcPitch, srcHeight;

  size_t dstXInBytes, dstY, dstZ, dstLOD;
  CUmemorytype dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  void* reserved1;
  size_t dstPitch, dstHeight;

  size_t WidthInBytes, Height, Depth;
};

struct CUDA_MEMSET_NODE_PARAMS {
  CUdeviceptr dst;
  size_t pitch;
  unsigned int value;
  unsigned int elementSize;  // 1, 2 or 4
  size_t width;              // in elements
  size_t height;
};

struct CUDA_KERNEL_NODE_PARAMS {
  CUfunction func;
  unsigned int gridDimX, gridDimY, gridDimZ;
  unsigned int blockDimX, blockDimY, blockDimZ;
  unsigned int sharedMemBytes;
  void** kernelParams;
  void** extra;  // instead of kernelParams: the tags below, each before its value
  CUkernel kern;
  CUcontext ctx;
};

// The tags of `extra`, as numbers: they are passed as pointers.
inline constexpr uintptr_t kLaunchParamEnd = 0;
inline constexpr uintptr_t kLaunchParamBuffer = 1;      // then the bytes of all arguments
inline constexpr uintptr_t kLaunchParamBufferSize = 2;  // then a size_t* with their number

}  // namespace orrery::cuda

// NOLINTEND(readability-identifier-naming)

// All entry points that we call: each has its name in the documentation, the versioned name under
// which the library exports it, and its parameters. They are there since CUDA 12.0. The mock driver
// (tests/support/mock_cuda) exports the same.

// clang-format off: one entry point a line
#define ORRERY_CUDA_ENTRY_POINTS(X)                                                               \
  X(cuInit, cuInit, (unsigned int flags))                                                         \
  X(cuDriverGetVersion, cuDriverGetVersion, (int* version))                                       \
  X(cuGetErrorName, cuGetErrorName, (CUresult code, const char** text))                           \
  X(cuGetErrorString, cuGetErrorString, (CUresult code, const char** text))                       \
  X(cuDeviceGetCount, cuDeviceGetCount, (int* count))                                             \
  X(cuDeviceGet, cuDeviceGet, (CUdevice * device, int ordinal))                                   \
  X(cuDeviceGetName, cuDeviceGetName, (char* name, int length, CUdevice device))                  \
  X(cuDeviceGetUuid, cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device))                        \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute,                                                   \
    (int* value, CUdevice_attribute attribute, CUdevice device))                                  \
  X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                     \
  X(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, (int* can, CUdevice device, CUdevice peer))     \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))   \
  X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                   \
  X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext context))                                        \
  X(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, (CUcontext peer, unsigned int flags))           \
  X(cuMemGetInfo, cuMemGetInfo_v2, (size_t * free, size_t * total))                               \
  X(cuModuleLoadDataEx, cuModuleLoadDataEx,                                                       \
    (CUmodule * module, const void* image, unsigned int options, CUjit_option* names,             \
     void** values))                                                                              \
  X(cuModuleUnload, cuModuleUnload, (CUmodule module))                                            \
  X(cuModuleGetFunction, cuModuleGetFunction,                                                     \
    (CUfunction * function, CUmodule module, const char* name))                                   \
  X(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity,                                 \
    (size_t * granularity, const CUmemAllocationProp* properties,                                 \
     CUmemAllocationGranularity_flags option))                                                    \
  X(cuMemAddressReserve, cuMemAddressReserve,                                                     \
    (CUdeviceptr * address, size_t size, size_t alignment, CUdeviceptr wished,                    \
     unsigned long long flags))                                                                   \
  X(cuMemAddressFree, cuMemAddressFree, (CUdeviceptr address, size_t size))                       \
  X(cuMemCreate, cuMemCreate,                                                                     \
    (CUmemGenericAllocationHandle * handle, size_t size, const CUmemAllocationProp* properties,   \
     unsigned long long flags))                                                                   \
  X(cuMemRelease, cuMemRelease, (CUmemGenericAllocationHandle handle))                            \
  X(cuMemMap, cuMemMap,                                                                           \
    (CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,        \
     unsigned long long flags))                                                                   \
  X(cuMemUnmap, cuMemUnmap, (CUdeviceptr address, size_t size))                                   \
  X(cuMemSetAccess, cuMemSetAccess,                                                               \
    (CUdeviceptr address, size_t size, const CUmemAccessDesc* accesses, size_t count))            \
  X(cuMemHostAlloc, cuMemHostAlloc, (void** memory, size_t size, unsigned int flags))             \
  X(cuMemFreeHost, cuMemFreeHost, (void* memory))                                                 \
  X(cuMemcpyHtoD, cuMemcpyHtoD_v2, (CUdeviceptr to, const void* from, size_t size))               \
  X(cuMemcpyDtoH, cuMemcpyDtoH_v2, (void* to, CUdeviceptr from, size_t size))                     \
  X(cuMemsetD8, cuMemsetD8_v2, (CUdeviceptr to, unsigned char value, size_t size))                \
  X(cuStreamCreate, cuStreamCreate, (CUstream * stream, unsigned int flags))                      \
  X(cuStreamDestroy, cuStreamDestroy_v2, (CUstream stream))                                       \
  X(cuStreamSynchronize, cuStreamSynchronize, (CUstream stream))                                  \
  X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode))   \
  X(cuStreamEndCapture, cuStreamEndCapture, (CUstream stream, CUgraph * graph))                   \
  X(cuEventCreate, cuEventCreate, (CUevent * event, unsigned int flags))                          \
  X(cuEventDestroy, cuEventDestroy_v2, (CUevent event))                                           \
  X(cuEventRecord, cuEventRecord, (CUevent event, CUstream stream))                               \
  X(cuEventSynchronize, cuEventSynchronize, (CUevent event))                                      \
  X(cuEventElapsedTime, cuEventElapsedTime, (float* milliseconds, CUevent start, CUevent end))    \
  X(cuLaunchKernel, cuLaunchKernel,                                                               \
    (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,          \
     unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, \
     CUstream stream, void** parameters, void** extra))                                           \
  X(cuGraphCreate, cuGraphCreate, (CUgraph * graph, unsigned int flags))                          \
  X(cuGraphDestroy, cuGraphDestroy, (CUgraph graph))                                              \
  X(cuGraphAddKernelNode, cuGraphAddKernelNode_v2,                                                \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode* after, size_t after_count,             \
     const CUDA_KERNEL_NODE_PARAMS* kernel))                                                      \
  X(cuGraphAddMemcpyNode, cuGraphAddMemcpyNode,                                                   \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode* after, size_t after_count,             \
     const CUDA_MEMCPY3D* copy, CUcontext context))                                               \
  X(cuGraphAddMemsetNode, cuGraphAddMemsetNode,                                                   \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode* after, size_t after_count,             \
     const CUDA_MEMSET_NODE_PARAMS* fill, CUcontext context))                                     \
  X(cuGraphAddChildGraphNode, cuGraphAddChildGraphNode,                                           \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode* after, size_t after_count,             \
     CUgraph child))                                                                              \
  X(cuGraphAddEmptyNode, cuGraphAddEmptyNode,                                                     \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode* after, size_t after_count))            \
  X(cuGraphAddEventRecordNode, cuGraphAddEventRecordNode,                                         \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode* after, size_t after_count,             \
     CUevent event))                                                                              \
  X(cuGraphInstantiate, cuGraphInstantiateWithFlags,                                              \
    (CUgraphExec * exec, CUgraph graph, unsigned long long flags))                                \
  X(cuGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec exec))                                   \
  X(cuGraphLaunch, cuGraphLaunch, (CUgraphExec exec, CUstream stream))
// clang-format on
