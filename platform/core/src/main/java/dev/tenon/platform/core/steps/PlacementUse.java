package dev.tenon.platform.core.steps;

import dev.tenon.platform.core.placement.Placement;
import dev.tenon.platform.core.placement.PlacingThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/// Uses the placement of a model for something else than steps of sequences: what encodes pictures does. Safe for any
/// thread.
public final class PlacementUse {
    private static final long CHANGE_NANOS = 1_000_000;

    private final DriveLock lock;
    private final PlacedSequences placed;
    private final Function<BooleanSupplier, Placement> source;
    private final Runnable requireOpen;

    /// @param source makes the next placement, as [StepLoop] has it
    /// @param requireOpen throws if the loop was closed
    PlacementUse(
            DriveLock lock, PlacedSequences placed, Function<BooleanSupplier, Placement> source, Runnable requireOpen) {
        this.lock = lock;
        this.placed = placed;
        this.source = source;
        this.requireOpen = requireOpen;
    }

    /// Places the model. Called by whoever drives.
    void place() {
        placed.place(() -> PlacingThread.run(() -> source.apply(lock::changesWait)), "the model was placed again");
    }

    /// Uses the placement while no step runs and nobody else uses it. The model is placed first if it is not.
    ///
    /// @param use gets the placement; not without a result
    /// @return what it gives
    public <T> T run(Function<Placement, T> use) {
        while (true) {
            List<T> result = new ArrayList<>(1);
            lock.exclusively(() -> {
                requireOpen.run();
                lock.drive();
                try {
                    if (placed.unplaced()) {
                        place();
                    }
                    if (!placed.unplaced()) {
                        result.add(run(placed.placement(), use));
                    }
                } finally {
                    lock.release();
                }
            });
            if (!result.isEmpty()) {
                return result.getFirst();
            }
            LockSupport.parkNanos(CHANGE_NANOS); // a change goes first
        }
    }

    private <T> T run(Placement placement, Function<Placement, T> use) {
        lock.unlock();
        try {
            return use.apply(placement);
        } finally {
            lock.lock();
        }
    }
}
