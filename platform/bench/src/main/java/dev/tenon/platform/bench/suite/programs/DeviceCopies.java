package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.DeviceBuffer;
import dev.tenon.platform.bench.report.Measurement;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.bench.report.Unit;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.function.LongSupplier;

/// Copies between host and device of growing size, as far as the one before tells that the next takes seconds: through
/// a window of the bus a gibibyte takes minutes. For one thread.
final class DeviceCopies {
    /// What all copies of one size may take.
    private static final double MOST_SECONDS = 5;

    private static final int TIMED = 5;
    private static final double NANOS = 1e9;

    private final ProgramRun run;
    private final String backend;
    private final Allocator allocator;
    private final LongSupplier clock;

    /// @param run receives the rates
    /// @param backend id of the device's backend
    /// @param allocator the device's memory
    /// @param clock tells nanoseconds
    DeviceCopies(ProgramRun run, String backend, Allocator allocator, LongSupplier clock) {
        this.run = run;
        this.backend = backend;
        this.allocator = allocator;
        this.clock = clock;
    }

    /// Copies.
    ///
    /// @param mebibytes the sizes, growing
    /// @return bytes a second to the device, of the largest copy
    double measure(int... mebibytes) {
        double rate = Double.POSITIVE_INFINITY;
        double seconds = 0;
        int before = 1;
        for (int mebi : mebibytes) {
            double needed = seconds * mebi / before;
            if (needed > MOST_SECONDS) {
                run.skip(
                        "copies of " + mebi + " MiB and more on " + backend,
                        String.format(
                                Locale.ROOT,
                                "%d MiB took %.1f s, so they take about %.0f s; %.0f s are allowed",
                                before,
                                seconds,
                                needed,
                                MOST_SECONDS));
                return rate;
            }
            long begin = clock.getAsLong();
            rate = copies(mebi);
            seconds = (clock.getAsLong() - begin) / NANOS;
            before = mebi;
        }
        return rate;
    }

    private double copies(int mebi) {
        long bytes = (long) mebi << 20;
        try (Arena arena = Arena.ofConfined();
                DeviceBuffer buffer = allocator.allocate(bytes, "bench")) {
            MemorySegment host = arena.allocate(bytes, 4096);
            double in = rate("copy in", mebi, () -> buffer.write(0, host));
            rate("copy out", mebi, () -> buffer.read(0, host));
            return in;
        }
    }

    /// {@return bytes a second}
    private double rate(String metric, int mebi, Runnable copy) {
        double[] rates = new double[TIMED];
        copy.run();
        long all = clock.getAsLong();
        for (int i = 0; i < TIMED; i++) {
            long begin = clock.getAsLong();
            copy.run();
            rates[i] = (double) ((long) mebi << 20) / Math.max(1, clock.getAsLong() - begin);
        }
        run.add(new Measurement(
                mebi + " MiB",
                backend,
                metric,
                Unit.GIGABYTES_PER_SECOND,
                rates,
                new Place("MiB", backend + " " + metric, mebi),
                Double.NaN));
        return TIMED * NANOS * ((long) mebi << 20) / Math.max(1, clock.getAsLong() - all);
    }
}
