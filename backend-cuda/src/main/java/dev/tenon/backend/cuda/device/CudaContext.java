package dev.tenon.backend.cuda.device;

import dev.tenon.kernels.nvidia.binding.CudaBinding;
import dev.tenon.kernels.nvidia.binding.CudaHandles;
import java.util.ArrayList;
import java.util.List;

/// The primary context of a device, retained once, and a stream. A plan has a stream of its own, so that
/// plans of one device do not meet in it: one may be capturing while another runs. Safe for any thread: a
/// thread that is about to call the driver first calls [#enter].
public final class CudaContext implements CudaHandles, AutoCloseable {
    private final CudaBinding binding;
    private final int device;
    private final long context;
    private final long stream;
    /// Whether the context is released with the stream.
    private final boolean retained;
    private boolean closed;

    /// @param binding makes the driver's calls
    /// @param ordinal the driver's number of the device
    public CudaContext(CudaBinding binding, int ordinal) {
        this.binding = binding;
        retained = true;
        device = binding.device(ordinal);
        context = binding.retainPrimaryContext(device);
        boolean done = false;
        try {
            enter();
            stream = binding.createStream();
            done = true;
        } finally {
            if (!done) {
                binding.releasePrimaryContext(device);
            }
        }
    }

    private CudaContext(CudaContext device) {
        retained = false;
        binding = device.binding;
        this.device = device.device;
        context = device.context;
        enter();
        stream = binding.createStream();
    }

    /// {@return the same context with another stream; closed before this one}
    public CudaContext withOwnStream() {
        return new CudaContext(this);
    }

    @Override
    public void enter() {
        binding.setCurrentContext(context);
    }

    /// {@return what makes the driver's calls}
    public CudaBinding binding() {
        return binding;
    }

    @Override
    public long context() {
        return context;
    }

    @Override
    public long stream() {
        return stream;
    }

    @Override
    public void synchronize() {
        binding.synchronizeStream(stream);
    }

    /// {@return whether everything that was started on the stream has ended}
    ///
    /// @throws dev.tenon.api.error.BackendException (`BACKEND-003`) if something failed
    public boolean ended() {
        return binding.streamEnded(stream);
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            enter();
            List<AutoCloseable> all = new ArrayList<>();
            all.add(() -> binding.destroyStream(stream));
            if (retained) {
                all.add(() -> binding.setCurrentContext(0));
                all.add(() -> binding.releasePrimaryContext(device));
            }
            Closing.all(all);
        }
    }
}
