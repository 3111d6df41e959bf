#pragma once

// What the entry points of the driver take, under the names of NVIDIA's documentation. Our own
// declarations: no toolkit is needed to build. cuda_h_check.cc compares them with cuda.h.

#include <cstddef>
#include <cstdint>

#include "simulator/values/cuda/driver/result_codes.h"

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

// Virtual memory.

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

// Nodes of graphs.

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
