package dev.tenon.kernels.nvidia.binding;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceBuffer;

/// The driver's handles of an open device, for code that calls NVIDIA's libraries itself.
///
/// ```java
/// CudaHandles handles = CudaHandles.of(device);
/// handles.enter();                                     // the context is that of this thread now
/// long x = CudaHandles.address(device.allocator().allocate(4096, "mine"));
/// // … a library's calls on handles.stream(), then:
/// handles.synchronize();
/// ```
///
/// The handles are the device's and valid until it is closed; whoever uses them destroys none of them. The stream is
/// that of the device's own copies; a plan has another one. Safe for any thread.
public interface CudaHandles {
    /// {@return the handle of the context (`CUcontext`)}
    long context();

    /// {@return the handle of the device's stream (`CUstream`)}
    long stream();

    /// Makes the context that of the calling thread.
    void enter();

    /// Waits for everything that was started on the stream.
    void synchronize();

    /// {@return the handles of an open device}
    ///
    /// @param device a device
    /// @throws IllegalArgumentException if it is not one of the CUDA backend
    static CudaHandles of(Device device) {
        if (device instanceof Holder holder) {
            return holder.handles();
        }
        throw new IllegalArgumentException(
                "device " + device.info().id() + " of kind " + device.info().kind() + " is none of the CUDA backend");
    }

    /// {@return the address of a buffer on the device (`CUdeviceptr`); valid until the buffer is closed}
    ///
    /// @param buffer a buffer
    /// @throws IllegalArgumentException if it is not one of the CUDA backend
    static long address(DeviceBuffer buffer) {
        if (buffer instanceof Addressed addressed) {
            return addressed.address();
        }
        throw new IllegalArgumentException("a buffer of " + buffer.sizeBytes() + " bytes is none of the CUDA backend");
    }

    /// What has handles: the backend's devices.
    interface Holder {
        /// {@return the handles}
        CudaHandles handles();
    }

    /// What has an address: the backend's buffers.
    interface Addressed {
        /// {@return the address on the device}
        long address();
    }
}
