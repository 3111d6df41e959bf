#pragma once

// Every entry point of the driver that we call: its name in the documentation, the versioned name
// under which the library exports it, and its parameters. cuda_h_check.cc compares them with
// cuda.h; the mock driver (tests/support/mock_cuda) exports the same. All of them are there since
// CUDA 12.0.

#include "simulator/values/cuda/driver/types.h"

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
