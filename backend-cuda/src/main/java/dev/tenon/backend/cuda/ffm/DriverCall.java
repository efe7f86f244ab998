package dev.tenon.backend.cuda.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;

/// The calls of the driver that this backend makes, named as in `cuda.h`; all return a `CUresult`.
///
/// Handles (contexts, streams, modules, functions, events, graphs) and device addresses are passed
/// as 64-bit integers; `ADDRESS` is host memory.
public enum DriverCall {
    cuInit(JAVA_INT),
    cuDriverGetVersion(ADDRESS),
    cuGetErrorName(JAVA_INT, ADDRESS),
    cuGetErrorString(JAVA_INT, ADDRESS),
    cuDeviceGetCount(ADDRESS),
    cuDeviceGet(ADDRESS, JAVA_INT),
    cuDeviceGetName(ADDRESS, JAVA_INT, JAVA_INT),
    cuDeviceGetUuid_v2(ADDRESS, JAVA_INT),
    cuDeviceGetAttribute(ADDRESS, JAVA_INT, JAVA_INT),
    cuDeviceTotalMem_v2(ADDRESS, JAVA_INT),
    cuDevicePrimaryCtxRetain(ADDRESS, JAVA_INT),
    cuDevicePrimaryCtxRelease_v2(JAVA_INT),
    cuCtxSetCurrent(JAVA_LONG),
    cuMemGetInfo_v2(ADDRESS, ADDRESS),
    cuMemAlloc_v2(ADDRESS, JAVA_LONG),
    cuMemFree_v2(JAVA_LONG),
    cuMemAllocHost_v2(ADDRESS, JAVA_LONG),
    cuMemFreeHost(JAVA_LONG),
    cuMemcpyHtoDAsync_v2(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
    cuMemcpyDtoHAsync_v2(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
    cuMemcpyDtoDAsync_v2(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
    cuMemsetD8Async(JAVA_LONG, JAVA_BYTE, JAVA_LONG, JAVA_LONG),
    cuStreamCreate(ADDRESS, JAVA_INT),
    cuStreamDestroy_v2(JAVA_LONG),
    cuStreamSynchronize(JAVA_LONG),
    cuStreamQuery(JAVA_LONG),
    cuStreamBeginCapture_v2(JAVA_LONG, JAVA_INT),
    cuStreamEndCapture(JAVA_LONG, ADDRESS),
    cuGraphInstantiateWithFlags(ADDRESS, JAVA_LONG, JAVA_LONG),
    cuGraphLaunch(JAVA_LONG, JAVA_LONG),
    cuGraphExecDestroy(JAVA_LONG),
    cuGraphDestroy(JAVA_LONG),
    cuModuleLoadDataEx(ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS),
    cuModuleUnload(JAVA_LONG),
    cuModuleGetFunction(ADDRESS, JAVA_LONG, ADDRESS),
    cuFuncSetAttribute(JAVA_LONG, JAVA_INT, JAVA_INT),
    cuLaunchKernelEx(ADDRESS, JAVA_LONG, ADDRESS, ADDRESS),
    cuEventCreate(ADDRESS, JAVA_INT),
    cuEventRecord(JAVA_LONG, JAVA_LONG),
    cuEventRecordWithFlags(JAVA_LONG, JAVA_LONG, JAVA_INT),
    cuEventSynchronize(JAVA_LONG),
    cuEventElapsedTime(ADDRESS, JAVA_LONG, JAVA_LONG),
    cuEventDestroy_v2(JAVA_LONG);

    private final MemoryLayout[] arguments;

    DriverCall(MemoryLayout... arguments) {
        this.arguments = arguments;
    }

    /// {@return the C signature}
    public FunctionDescriptor descriptor() {
        return FunctionDescriptor.of(JAVA_INT, arguments);
    }
}
