package dev.tenon.backend.cuda;

import dev.tenon.backend.cuda.CudaDriver.Hot;

/// The primary context of a device, retained once, and the stream on which all of a device's work
/// runs. Safe for any thread: a thread that is about to call the driver first calls [#enter].
final class CudaContext implements AutoCloseable {
    private static final int STREAM_NON_BLOCKING = 1;

    private final int device;
    private final long context;
    private final long stream;
    private boolean closed;

    /// @param ordinal the driver's number of the device
    CudaContext(int ordinal) {
        CudaDriver driver = CudaDriver.get();
        device = (int) driver.create(DriverCall.cuDeviceGet, ordinal);
        context = driver.create(DriverCall.cuDevicePrimaryCtxRetain, device);
        boolean done = false;
        try {
            enter();
            stream = driver.create(DriverCall.cuStreamCreate, STREAM_NON_BLOCKING);
            done = true;
        } finally {
            if (!done) {
                driver.call(DriverCall.cuDevicePrimaryCtxRelease_v2, device);
            }
        }
    }

    /// Makes the context that of the calling thread.
    void enter() {
        Hot.setCurrent(context);
    }

    long stream() {
        return stream;
    }

    /// Waits for everything that was started on the stream.
    void synchronize() {
        Hot.synchronize(stream);
    }

    /// {@return whether everything that was started on the stream has ended}
    ///
    /// @throws dev.tenon.api.error.BackendException (`BACKEND-003`) if something failed
    boolean ended() {
        int result = CudaDriver.get().tryCall(DriverCall.cuStreamQuery, stream);
        if (result == CudaDriver.NOT_READY) {
            return false;
        }
        CudaDriver.get().check(result, "cuStreamQuery");
        return true;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            enter();
            CudaDriver.get().call(DriverCall.cuStreamDestroy_v2, stream);
            Hot.setCurrent(0);
            CudaDriver.get().call(DriverCall.cuDevicePrimaryCtxRelease_v2, device);
        }
    }
}
