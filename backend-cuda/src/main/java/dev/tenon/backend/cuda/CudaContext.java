package dev.tenon.backend.cuda;

import dev.tenon.backend.cuda.CudaDriver.Hot;
import java.util.ArrayList;
import java.util.List;

/// The primary context of a device, retained once, and a stream. A plan has a stream of its own, so that
/// plans of one device do not meet in it: one may be capturing while another runs. Safe for any thread: a
/// thread that is about to call the driver first calls [#enter].
final class CudaContext implements AutoCloseable {
    private static final int STREAM_NON_BLOCKING = 1;

    private final int device;
    private final long context;
    private final long stream;
    /// Whether the context is given back with the stream.
    private final boolean retained;
    private boolean closed;

    /// @param ordinal the driver's number of the device
    CudaContext(int ordinal) {
        CudaDriver driver = CudaDriver.get();
        retained = true;
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

    private CudaContext(CudaContext device) {
        retained = false;
        this.device = device.device;
        context = device.context;
        enter();
        stream = CudaDriver.get().create(DriverCall.cuStreamCreate, STREAM_NON_BLOCKING);
    }

    /// {@return the same context with another stream; closed before this one}
    CudaContext withOwnStream() {
        return new CudaContext(this);
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
            List<AutoCloseable> all = new ArrayList<>();
            all.add(() -> CudaDriver.get().call(DriverCall.cuStreamDestroy_v2, stream));
            if (retained) {
                all.add(() -> Hot.setCurrent(0));
                all.add(() -> CudaDriver.get().call(DriverCall.cuDevicePrimaryCtxRelease_v2, device));
            }
            Closing.all(all);
        }
    }
}
