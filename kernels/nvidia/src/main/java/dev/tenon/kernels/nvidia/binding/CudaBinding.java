package dev.tenon.kernels.nvidia.binding;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ConsumerType;

/// The calls of the CUDA driver that the backend makes, all of them. Safe for any thread.
///
/// Handles (contexts, streams, modules, functions, events, graphs), device addresses and addresses of host memory are
/// the driver's own, as 64-bit integers: what one binding has made, another one can use. Unless stated otherwise, a
/// call concerns the calling thread's context and throws a [BackendException] (`BACKEND-003`) made by [#failure], whose
/// `nativeCode()` is the driver's `CUresult`.
@ConsumerType
public interface CudaBinding {
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    int OUT_OF_MEMORY = 2;
    /// `CUDA_ERROR_NOT_READY`: something asked for is still under way.
    int NOT_READY = 600;

    /// {@return what reports call it, such as `ffm`}
    String name();

    // Devices; these need no context.

    /// {@return the CUDA version of the driver, such as 12060 for 12.6}
    int driverVersion();

    /// {@return number of devices}
    int deviceCount();

    /// {@return handle of a device}
    ///
    /// @param ordinal its number, from 0
    int device(int ordinal);

    /// {@return name of a device}
    String deviceName(int device);

    /// {@return UUID of a device, 16 bytes}
    byte[] deviceUuid(int device);

    /// {@return an attribute of a device}
    ///
    /// @param attribute a `CUdevice_attribute`
    /// @param device handle
    int deviceAttribute(int attribute, int device);

    /// {@return memory of a device in bytes}
    long deviceMemory(int device);

    // Contexts

    /// {@return the primary context of a device, retained; [#releasePrimaryContext] releases it}
    long retainPrimaryContext(int device);

    /// Releases a primary context once.
    void releasePrimaryContext(int device);

    /// Makes a context that of the calling thread.
    ///
    /// @param context handle, or 0 for none
    void setCurrentContext(long context);

    // Memory

    /// {@return free bytes of the context's device}
    long freeMemory();

    /// {@return the address of new device memory, which holds anything; [#free] releases it}
    ///
    /// @throws BackendException with native code [#OUT_OF_MEMORY] if there is not enough
    long allocate(long bytes);

    /// Releases device memory.
    void free(long address);

    /// {@return the address of new host memory that devices read and write directly; [#freeHost] releases it}
    long allocateHost(long bytes);

    /// Releases host memory.
    void freeHost(long address);

    /// Starts a copy from host to device.
    void copyToDevice(long device, long host, long bytes, long stream);

    /// Starts a copy from device to host.
    void copyToHost(long host, long device, long bytes, long stream);

    /// Starts a copy on the device.
    void copyOnDevice(long to, long from, long bytes, long stream);

    /// Starts setting bytes of device memory.
    void fill(long device, byte value, long bytes, long stream);

    // Streams

    /// {@return a new stream that does not wait for the default stream; [#destroyStream] destroys it}
    long createStream();

    /// Destroys a stream.
    void destroyStream(long stream);

    /// Waits for everything that was started on a stream.
    void synchronizeStream(long stream);

    /// {@return whether everything that was started on a stream has ended}
    boolean streamEnded(long stream);

    // Graphs

    /// Lets what this thread starts on a stream be captured instead of run.
    void beginCapture(long stream);

    /// Ends a capture.
    ///
    /// @return the graph; [#destroyGraph] destroys it
    long endCapture(long stream);

    /// {@return an executable graph; [#destroyExecutableGraph] destroys it}
    long instantiateGraph(long graph);

    /// Starts an executable graph.
    void launchGraph(long executableGraph, long stream);

    /// Destroys an executable graph.
    void destroyExecutableGraph(long executableGraph);

    /// Destroys a graph.
    void destroyGraph(long graph);

    // Code

    /// Loads machine code or PTX into the context.
    ///
    /// @param name what messages call it
    /// @param code a cubin, or PTX text
    /// @return the module; [#unloadModule] unloads it
    /// @throws BackendException with the driver's log
    long loadModule(String name, byte[] code);

    /// Unloads a module.
    void unloadModule(long module);

    /// {@return the handle of a kernel}
    ///
    /// @param module loaded module
    /// @param name the kernel's name
    long function(long module, String name);

    /// Sets an attribute of a kernel.
    ///
    /// @param function handle
    /// @param attribute a `CUfunction_attribute`
    /// @param value its value
    void setFunctionAttribute(long function, int attribute, int value);

    /// Launches a kernel.
    ///
    /// @param launch what
    /// @param arguments an array of addresses, one for each parameter's value; read before this returns
    /// @param stream where
    void launchKernel(KernelLaunch launch, MemorySegment arguments, long stream);

    // Events

    /// {@return a new event; [#destroyEvent] destroys it}
    ///
    /// @param timed whether [#elapsedMillis] will be asked
    long createEvent(boolean timed);

    /// Lets an event be reached when everything before it on a stream has ended.
    ///
    /// @param event handle
    /// @param stream where
    /// @param external whether a capture makes it a node whose event can be waited for outside the graph
    void recordEvent(long event, long stream, boolean external);

    /// Waits until an event is reached.
    void synchronizeEvent(long event);

    /// {@return milliseconds between two events}
    float elapsedMillis(long begin, long end);

    /// Destroys an event.
    void destroyEvent(long event);

    /// {@return the exception for a call that failed}
    ///
    /// @param call its name, such as `cuMemAlloc`
    /// @param result the `CUresult`
    /// @param error what the driver calls that
    static BackendException failure(String call, int result, String error) {
        return new BackendException(
                ErrorCode.BACKEND_FAILED,
                call + " failed: " + error
                        + ". The device can no longer be used by this model; load it again, or choose another backend.",
                result,
                null);
    }
}
