package dev.tenon.platform.core.placement;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/// Places a model on a thread of its own. Reading files and opening devices leaves buffers with the
/// thread that does it, and the thread that drives a model's steps lives as long as the model.
public final class PlacingThread {
    private PlacingThread() {}

    /// {@return the placement}
    ///
    /// @param source makes it; what it throws is passed on
    public static Placement run(Supplier<Placement> source) {
        FutureTask<Placement> task = new FutureTask<>(source::get);
        Thread thread = Thread.ofPlatform().name("tenon-placing").daemon(true).unstarted(task);
        thread.setContextClassLoader(null);
        thread.start();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw switch (e.getCause()) {
                        case RuntimeException cause -> cause;
                        case Error cause -> throw cause;
                        default -> new IllegalStateException(e.getCause());
                    };
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
