package dev.tenon.backend.cuda.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import dev.tenon.kernels.nvidia.binding.KernelLaunch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The backend's own binding: the driver's functions through `java.lang.foreign`. Calls that a step makes go through
/// constant method handles; all others through the table of [DriverCall].
public final class FfmBinding implements CudaBinding {
    /// What `cuda.binding` calls it.
    public static final String NAME = "ffm";

    private static final int NAME_BYTES = 256;
    private static final int UUID_BYTES = 16;
    private static final int STREAM_NON_BLOCKING = 1;
    private static final int CAPTURE_THREAD_LOCAL = 1;
    private static final int JIT_ERROR_LOG = 5;
    private static final int JIT_ERROR_LOG_BYTES = 6;
    private static final int LOG_BYTES = 16384;
    private static final int EVENT_DISABLE_TIMING = 2;
    private static final int RECORD_EXTERNAL = 1;

    private final DriverLibrary driver;

    private FfmBinding(DriverLibrary driver) {
        this.driver = driver;
    }

    /// {@return the binding of this process's driver}
    ///
    /// @throws BackendException (`BACKEND-001`) if there is no driver
    public static FfmBinding get() {
        return new FfmBinding(DriverLibrary.get());
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int driverVersion() {
        return (int) driver.create(DriverCall.cuDriverGetVersion);
    }

    @Override
    public int deviceCount() {
        return (int) driver.create(DriverCall.cuDeviceGetCount);
    }

    @Override
    public int device(int ordinal) {
        return (int) driver.create(DriverCall.cuDeviceGet, ordinal);
    }

    @Override
    public String deviceName(int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(NAME_BYTES);
            driver.call(DriverCall.cuDeviceGetName, name, NAME_BYTES, device);
            return name.getString(0);
        }
    }

    @Override
    public byte[] deviceUuid(int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment uuid = arena.allocate(UUID_BYTES);
            driver.call(DriverCall.cuDeviceGetUuid_v2, uuid, device);
            return uuid.toArray(JAVA_BYTE);
        }
    }

    @Override
    public int deviceAttribute(int attribute, int device) {
        return (int) driver.create(DriverCall.cuDeviceGetAttribute, attribute, device);
    }

    @Override
    public long deviceMemory(int device) {
        return driver.create(DriverCall.cuDeviceTotalMem_v2, device);
    }

    @Override
    public long retainPrimaryContext(int device) {
        return driver.create(DriverCall.cuDevicePrimaryCtxRetain, device);
    }

    @Override
    public void releasePrimaryContext(int device) {
        driver.call(DriverCall.cuDevicePrimaryCtxRelease_v2, device);
    }

    @Override
    public void setCurrentContext(long context) {
        try {
            driver.check((int) Hot.SET_CURRENT.invokeExact(context), "cuCtxSetCurrent");
        } catch (Throwable t) {
            throw DriverLibrary.rethrow(t);
        }
    }

    @Override
    public long freeMemory() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(JAVA_LONG, 2);
            driver.call(DriverCall.cuMemGetInfo_v2, out, out.asSlice(8));
            return out.get(JAVA_LONG, 0);
        }
    }

    @Override
    public long allocate(long bytes) {
        return driver.create(DriverCall.cuMemAlloc_v2, bytes);
    }

    @Override
    public void free(long address) {
        driver.call(DriverCall.cuMemFree_v2, address);
    }

    @Override
    public long allocateHost(long bytes) {
        return driver.create(DriverCall.cuMemAllocHost_v2, bytes);
    }

    @Override
    public void freeHost(long address) {
        driver.call(DriverCall.cuMemFreeHost, address);
    }

    @Override
    public void copyToDevice(long device, long host, long bytes, long stream) {
        try {
            driver.check((int) Hot.TO_DEVICE.invokeExact(device, host, bytes, stream), "cuMemcpyHtoDAsync");
        } catch (Throwable t) {
            throw DriverLibrary.rethrow(t);
        }
    }

    @Override
    public void copyToHost(long host, long device, long bytes, long stream) {
        try {
            driver.check((int) Hot.TO_HOST.invokeExact(host, device, bytes, stream), "cuMemcpyDtoHAsync");
        } catch (Throwable t) {
            throw DriverLibrary.rethrow(t);
        }
    }

    @Override
    public void copyOnDevice(long to, long from, long bytes, long stream) {
        driver.call(DriverCall.cuMemcpyDtoDAsync_v2, to, from, bytes, stream);
    }

    @Override
    public void fill(long device, byte value, long bytes, long stream) {
        driver.call(DriverCall.cuMemsetD8Async, device, value, bytes, stream);
    }

    @Override
    public long createStream() {
        return driver.create(DriverCall.cuStreamCreate, STREAM_NON_BLOCKING);
    }

    @Override
    public void destroyStream(long stream) {
        driver.call(DriverCall.cuStreamDestroy_v2, stream);
    }

    @Override
    public void synchronizeStream(long stream) {
        try {
            driver.check((int) Hot.SYNCHRONIZE.invokeExact(stream), "cuStreamSynchronize");
        } catch (Throwable t) {
            throw DriverLibrary.rethrow(t);
        }
    }

    @Override
    public boolean streamEnded(long stream) {
        int result = driver.tryCall(DriverCall.cuStreamQuery, stream);
        if (result == NOT_READY) {
            return false;
        }
        driver.check(result, "cuStreamQuery");
        return true;
    }

    @Override
    public void beginCapture(long stream) {
        driver.call(DriverCall.cuStreamBeginCapture_v2, stream, CAPTURE_THREAD_LOCAL);
    }

    @Override
    public long endCapture(long stream) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(JAVA_LONG);
            driver.call(DriverCall.cuStreamEndCapture, stream, out);
            return out.get(JAVA_LONG, 0);
        }
    }

    @Override
    public long instantiateGraph(long graph) {
        return driver.create(DriverCall.cuGraphInstantiateWithFlags, graph, 0L);
    }

    @Override
    public void launchGraph(long executableGraph, long stream) {
        try {
            driver.check((int) Hot.LAUNCH_GRAPH.invokeExact(executableGraph, stream), "cuGraphLaunch");
        } catch (Throwable t) {
            throw DriverLibrary.rethrow(t);
        }
    }

    @Override
    public void destroyExecutableGraph(long executableGraph) {
        driver.call(DriverCall.cuGraphExecDestroy, executableGraph);
    }

    @Override
    public void destroyGraph(long graph) {
        driver.call(DriverCall.cuGraphDestroy, graph);
    }

    @Override
    public long loadModule(String name, byte[] code) {
        try (Arena arena = Arena.ofConfined()) {
            // PTX is text and has to end in a zero byte.
            MemorySegment image = arena.allocate(code.length + 1L, 64);
            MemorySegment.copy(code, 0, image, JAVA_BYTE, 0, code.length);
            MemorySegment log = arena.allocate(LOG_BYTES);
            MemorySegment options = arena.allocateFrom(JAVA_INT, JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES);
            MemorySegment values = arena.allocate(ADDRESS, 2);
            values.setAtIndex(ADDRESS, 0, log);
            values.setAtIndex(ADDRESS, 1, MemorySegment.ofAddress(LOG_BYTES));
            MemorySegment out = arena.allocate(JAVA_LONG);
            int result = driver.tryCall(DriverCall.cuModuleLoadDataEx, out, image, 2, options, values);
            if (result != 0) {
                throw new BackendException(
                        ErrorCode.BACKEND_FAILED,
                        "the driver did not load kernel module " + name + ": " + driver.errorName(result) + " "
                                + log.getString(0).strip(),
                        result,
                        null);
            }
            return out.get(JAVA_LONG, 0);
        }
    }

    @Override
    public void unloadModule(long module) {
        driver.call(DriverCall.cuModuleUnload, module);
    }

    @Override
    public long function(long module, String name) {
        try (Arena arena = Arena.ofConfined()) {
            return driver.create(DriverCall.cuModuleGetFunction, module, arena.allocateFrom(name));
        }
    }

    @Override
    public void setFunctionAttribute(long function, int attribute, int value) {
        driver.call(DriverCall.cuFuncSetAttribute, function, attribute, value);
    }

    @Override
    public void launchKernel(KernelLaunch launch, MemorySegment arguments, long stream) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment config = LaunchConfig.of(arena, launch, stream);
            int result = (int) Hot.LAUNCH_KERNEL.invokeExact(config, launch.function(), arguments, MemorySegment.NULL);
            if (result != 0) {
                throw driver.failure(result, "cuLaunchKernelEx of " + launch.name());
            }
        } catch (Throwable t) {
            throw DriverLibrary.rethrow(t);
        }
    }

    @Override
    public long createEvent(boolean timed) {
        return driver.create(DriverCall.cuEventCreate, timed ? 0 : EVENT_DISABLE_TIMING);
    }

    @Override
    public void recordEvent(long event, long stream, boolean external) {
        if (external) {
            driver.call(DriverCall.cuEventRecordWithFlags, event, stream, RECORD_EXTERNAL);
        } else {
            driver.call(DriverCall.cuEventRecord, event, stream);
        }
    }

    @Override
    public void synchronizeEvent(long event) {
        driver.call(DriverCall.cuEventSynchronize, event);
    }

    @Override
    public float elapsedMillis(long begin, long end) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment millis = arena.allocate(JAVA_FLOAT);
            driver.call(DriverCall.cuEventElapsedTime, millis, begin, end);
            return millis.get(JAVA_FLOAT, 0);
        }
    }

    @Override
    public void destroyEvent(long event) {
        driver.call(DriverCall.cuEventDestroy_v2, event);
    }

    /// The calls that each step makes. Not touched before there is a driver.
    private static final class Hot {
        static final MethodHandle SET_CURRENT = handle(DriverCall.cuCtxSetCurrent);
        static final MethodHandle LAUNCH_GRAPH = handle(DriverCall.cuGraphLaunch);
        static final MethodHandle LAUNCH_KERNEL = handle(DriverCall.cuLaunchKernelEx);
        static final MethodHandle SYNCHRONIZE = handle(DriverCall.cuStreamSynchronize);
        static final MethodHandle TO_DEVICE = handle(DriverCall.cuMemcpyHtoDAsync_v2);
        static final MethodHandle TO_HOST = handle(DriverCall.cuMemcpyDtoHAsync_v2);

        private Hot() {}

        private static MethodHandle handle(DriverCall call) {
            return DriverLibrary.get().handle(call);
        }
    }
}
