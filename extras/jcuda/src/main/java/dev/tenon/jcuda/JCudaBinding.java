package dev.tenon.jcuda;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.jcuda.interop.JCudaObjects;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import dev.tenon.kernels.nvidia.binding.KernelLaunch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUfunction;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.CUuuid;
import jcuda.driver.JCudaDriver;

/// The driver's calls by JCuda. Launches with attributes (clusters, programmatic dependent launch) are made by the
/// backend's own binding: JCuda 12.6 has no `cuLaunchKernelEx`.
final class JCudaBinding implements CudaBinding {
    private static final int NAME_BYTES = 256;
    private static final int STREAM_NON_BLOCKING = 1;
    private static final int CAPTURE_THREAD_LOCAL = 1;
    private static final int[] LOG_OPTIONS = {5, 6}; // CU_JIT_ERROR_LOG_BUFFER and its size
    private static final int LOG_BYTES = 16384;
    private static final int EVENT_DISABLE_TIMING = 2;
    private static final int RECORD_EXTERNAL = 1;

    private final CudaBinding fallback;

    private JCudaBinding(CudaBinding fallback) {
        this.fallback = fallback;
    }

    /// Loads JCuda's library.
    ///
    /// @param fallback makes the calls that JCuda lacks
    /// @throws LinkageError if it cannot be loaded
    static JCudaBinding load(CudaBinding fallback) {
        JCudaDriver.setExceptionsEnabled(false);
        JCudaBinding binding = new JCudaBinding(fallback);
        binding.check(JCudaDriver.cuInit(0), "cuInit");
        return binding;
    }

    private void check(int result, String call) {
        if (result != 0) {
            throw CudaBinding.failure(call, result, errorName(result));
        }
    }

    private static String errorName(int result) {
        String[] name = new String[1];
        String[] text = new String[1];
        return JCudaDriver.cuGetErrorName(result, name) == 0 && JCudaDriver.cuGetErrorString(result, text) == 0
                ? name[0] + " (" + result + ", " + text[0] + ")"
                : "error " + result;
    }

    private static Pointer host(long address) {
        return JCudaObjects.set(new Pointer(), address);
    }

    private static CUdeviceptr device(long address) {
        return JCudaObjects.set(new CUdeviceptr(), address);
    }

    private static CUdevice card(int handle) {
        return JCudaObjects.set(new CUdevice(), handle);
    }

    private static CUstream stream(long handle) {
        return JCudaObjects.set(new CUstream(), handle);
    }

    private static CUevent event(long handle) {
        return JCudaObjects.set(new CUevent(), handle);
    }

    @Override
    public String name() {
        return JCudaBindingProvider.NAME;
    }

    @Override
    public int driverVersion() {
        int[] version = new int[1];
        check(JCudaDriver.cuDriverGetVersion(version), "cuDriverGetVersion");
        return version[0];
    }

    @Override
    public int deviceCount() {
        int[] count = new int[1];
        check(JCudaDriver.cuDeviceGetCount(count), "cuDeviceGetCount");
        return count[0];
    }

    @Override
    public int device(int ordinal) {
        CUdevice device = new CUdevice();
        check(JCudaDriver.cuDeviceGet(device, ordinal), "cuDeviceGet");
        return (int) JCudaObjects.get(device);
    }

    @Override
    public String deviceName(int device) {
        byte[] name = new byte[NAME_BYTES];
        check(JCudaDriver.cuDeviceGetName(name, NAME_BYTES, card(device)), "cuDeviceGetName");
        String text = new String(name, StandardCharsets.UTF_8);
        return text.substring(0, text.indexOf('\0'));
    }

    @Override
    public byte[] deviceUuid(int device) {
        CUuuid uuid = new CUuuid();
        check(JCudaDriver.cuDeviceGetUuid(uuid, card(device)), "cuDeviceGetUuid");
        return uuid.bytes;
    }

    @Override
    public int deviceAttribute(int attribute, int device) {
        int[] value = new int[1];
        check(JCudaDriver.cuDeviceGetAttribute(value, attribute, card(device)), "cuDeviceGetAttribute");
        return value[0];
    }

    @Override
    public long deviceMemory(int device) {
        long[] bytes = new long[1];
        check(JCudaDriver.cuDeviceTotalMem(bytes, card(device)), "cuDeviceTotalMem");
        return bytes[0];
    }

    @Override
    public long retainPrimaryContext(int device) {
        CUcontext context = new CUcontext();
        check(JCudaDriver.cuDevicePrimaryCtxRetain(context, card(device)), "cuDevicePrimaryCtxRetain");
        return JCudaObjects.get(context);
    }

    @Override
    public void releasePrimaryContext(int device) {
        check(JCudaDriver.cuDevicePrimaryCtxRelease(card(device)), "cuDevicePrimaryCtxRelease");
    }

    @Override
    public void setCurrentContext(long context) {
        check(JCudaDriver.cuCtxSetCurrent(JCudaObjects.set(new CUcontext(), context)), "cuCtxSetCurrent");
    }

    @Override
    public long freeMemory() {
        long[] free = new long[1];
        check(JCudaDriver.cuMemGetInfo(free, new long[1]), "cuMemGetInfo");
        return free[0];
    }

    @Override
    public long allocate(long bytes) {
        CUdeviceptr address = new CUdeviceptr();
        check(JCudaDriver.cuMemAlloc(address, bytes), "cuMemAlloc");
        return JCudaObjects.get(address);
    }

    @Override
    public void free(long address) {
        check(JCudaDriver.cuMemFree(device(address)), "cuMemFree");
    }

    @Override
    public long allocateHost(long bytes) {
        Pointer address = new Pointer();
        check(JCudaDriver.cuMemAllocHost(address, bytes), "cuMemAllocHost");
        return JCudaObjects.get(address);
    }

    @Override
    public void freeHost(long address) {
        check(JCudaDriver.cuMemFreeHost(host(address)), "cuMemFreeHost");
    }

    @Override
    public void copyToDevice(long device, long host, long bytes, long stream) {
        check(JCudaDriver.cuMemcpyHtoDAsync(device(device), host(host), bytes, stream(stream)), "cuMemcpyHtoDAsync");
    }

    @Override
    public void copyToHost(long host, long device, long bytes, long stream) {
        check(JCudaDriver.cuMemcpyDtoHAsync(host(host), device(device), bytes, stream(stream)), "cuMemcpyDtoHAsync");
    }

    @Override
    public void copyOnDevice(long to, long from, long bytes, long stream) {
        check(JCudaDriver.cuMemcpyDtoDAsync(device(to), device(from), bytes, stream(stream)), "cuMemcpyDtoDAsync");
    }

    @Override
    public void fill(long device, byte value, long bytes, long stream) {
        check(JCudaDriver.cuMemsetD8Async(device(device), value, bytes, stream(stream)), "cuMemsetD8Async");
    }

    @Override
    public long createStream() {
        CUstream stream = new CUstream();
        check(JCudaDriver.cuStreamCreate(stream, STREAM_NON_BLOCKING), "cuStreamCreate");
        return JCudaObjects.get(stream);
    }

    @Override
    public void destroyStream(long stream) {
        check(JCudaDriver.cuStreamDestroy(stream(stream)), "cuStreamDestroy");
    }

    @Override
    public void synchronizeStream(long stream) {
        check(JCudaDriver.cuStreamSynchronize(stream(stream)), "cuStreamSynchronize");
    }

    @Override
    public boolean streamEnded(long stream) {
        int result = JCudaDriver.cuStreamQuery(stream(stream));
        if (result == NOT_READY) {
            return false;
        }
        check(result, "cuStreamQuery");
        return true;
    }

    @Override
    public void beginCapture(long stream) {
        check(JCudaDriver.cuStreamBeginCapture(stream(stream), CAPTURE_THREAD_LOCAL), "cuStreamBeginCapture");
    }

    @Override
    public long endCapture(long stream) {
        CUgraph graph = new CUgraph();
        check(JCudaDriver.cuStreamEndCapture(stream(stream), graph), "cuStreamEndCapture");
        return JCudaObjects.get(graph);
    }

    @Override
    public long instantiateGraph(long graph) {
        CUgraphExec executable = new CUgraphExec();
        check(
                JCudaDriver.cuGraphInstantiate(executable, JCudaObjects.set(new CUgraph(), graph), 0),
                "cuGraphInstantiateWithFlags");
        return JCudaObjects.get(executable);
    }

    @Override
    public void launchGraph(long executableGraph, long stream) {
        check(
                JCudaDriver.cuGraphLaunch(JCudaObjects.set(new CUgraphExec(), executableGraph), stream(stream)),
                "cuGraphLaunch");
    }

    @Override
    public void destroyExecutableGraph(long executableGraph) {
        check(
                JCudaDriver.cuGraphExecDestroy(JCudaObjects.set(new CUgraphExec(), executableGraph)),
                "cuGraphExecDestroy");
    }

    @Override
    public void destroyGraph(long graph) {
        check(JCudaDriver.cuGraphDestroy(JCudaObjects.set(new CUgraph(), graph)), "cuGraphDestroy");
    }

    @Override
    public long loadModule(String name, byte[] code) {
        try (Arena arena = Arena.ofConfined()) {
            // PTX is text and has to end in a zero byte.
            MemorySegment image = arena.allocate(code.length + 1L, 64);
            MemorySegment.copy(code, 0, image, ValueLayout.JAVA_BYTE, 0, code.length);
            MemorySegment log = arena.allocate(LOG_BYTES);
            MemorySegment values = arena.allocate(ValueLayout.ADDRESS, 2);
            values.setAtIndex(ValueLayout.ADDRESS, 0, log);
            values.setAtIndex(ValueLayout.ADDRESS, 1, MemorySegment.ofAddress(LOG_BYTES));
            CUmodule module = new CUmodule();
            int result = JCudaDriver.cuModuleLoadDataEx(
                    module, host(image.address()), LOG_OPTIONS.length, LOG_OPTIONS.clone(), host(values.address()));
            if (result != 0) {
                throw new BackendException(
                        ErrorCode.BACKEND_FAILED,
                        "the driver did not load kernel module " + name + ": " + errorName(result) + " "
                                + log.getString(0).strip(),
                        result,
                        null);
            }
            return JCudaObjects.get(module);
        }
    }

    @Override
    public void unloadModule(long module) {
        check(JCudaDriver.cuModuleUnload(JCudaObjects.set(new CUmodule(), module)), "cuModuleUnload");
    }

    @Override
    public long function(long module, String name) {
        CUfunction function = new CUfunction();
        check(
                JCudaDriver.cuModuleGetFunction(function, JCudaObjects.set(new CUmodule(), module), name),
                "cuModuleGetFunction");
        return JCudaObjects.get(function);
    }

    @Override
    public void setFunctionAttribute(long function, int attribute, int value) {
        check(
                JCudaDriver.cuFuncSetAttribute(JCudaObjects.set(new CUfunction(), function), attribute, value),
                "cuFuncSetAttribute");
    }

    @Override
    public void launchKernel(KernelLaunch launch, MemorySegment arguments, long stream) {
        if (launch.hasAttributes()) {
            fallback.launchKernel(launch, arguments, stream);
            return;
        }
        check(
                JCudaDriver.cuLaunchKernel(
                        JCudaObjects.set(new CUfunction(), launch.function()),
                        launch.gridX(),
                        launch.gridY(),
                        launch.gridZ(),
                        launch.block(),
                        1,
                        1,
                        launch.sharedBytes(),
                        stream(stream),
                        host(arguments.address()),
                        null),
                "cuLaunchKernel of " + launch.name());
    }

    @Override
    public long createEvent(boolean timed) {
        CUevent event = new CUevent();
        check(JCudaDriver.cuEventCreate(event, timed ? 0 : EVENT_DISABLE_TIMING), "cuEventCreate");
        return JCudaObjects.get(event);
    }

    @Override
    public void recordEvent(long event, long stream, boolean external) {
        check(
                external
                        ? JCudaDriver.cuEventRecordWithFlags(event(event), stream(stream), RECORD_EXTERNAL)
                        : JCudaDriver.cuEventRecord(event(event), stream(stream)),
                "cuEventRecord");
    }

    @Override
    public void synchronizeEvent(long event) {
        check(JCudaDriver.cuEventSynchronize(event(event)), "cuEventSynchronize");
    }

    @Override
    public float elapsedMillis(long begin, long end) {
        float[] millis = new float[1];
        check(JCudaDriver.cuEventElapsedTime(millis, event(begin), event(end)), "cuEventElapsedTime");
        return millis[0];
    }

    @Override
    public void destroyEvent(long event) {
        check(JCudaDriver.cuEventDestroy(event(event)), "cuEventDestroy");
    }
}
