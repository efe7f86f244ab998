package dev.tenon.jcuda.interop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUstream;
import jcuda.runtime.cudaStream_t;

/// JCuda's objects and the driver's handles: what JCuda hides, because it has objects where the driver has numbers.
public final class JCudaObjects {
    private static final VarHandle POINTER;

    static {
        try {
            POINTER = MethodHandles.privateLookupIn(NativePointerObject.class, MethodHandles.lookup())
                    .findVarHandle(NativePointerObject.class, "nativePointer", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private JCudaObjects() {}

    /// Lets an object stand for a handle or an address.
    ///
    /// @param object of the class that JCuda wants
    /// @param handle the driver's number
    /// @return the object
    public static <T extends NativePointerObject> T set(T object, long handle) {
        POINTER.set(object, handle);
        return object;
    }

    /// {@return the handle or address that an object stands for}
    public static long get(NativePointerObject object) {
        return (long) POINTER.get(object);
    }

    /// {@return a stream for the libraries of JCuda's runtime, such as JCublas2}
    ///
    /// @param handle of the stream, such as [dev.tenon.kernels.nvidia.binding.CudaHandles#stream()]
    public static cudaStream_t stream(long handle) {
        return new cudaStream_t(set(new CUstream(), handle));
    }

    /// {@return a pointer to device or host memory}
    ///
    /// @param address such as [dev.tenon.kernels.nvidia.binding.CudaHandles#address]
    public static Pointer pointer(long address) {
        return set(new Pointer(), address);
    }
}
