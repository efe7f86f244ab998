package dev.tenon.platform.contracts.itest;

import dev.tenon.itest.testkit.BackendBatchContract;
import dev.tenon.itest.testkit.BackendContract;
import dev.tenon.itest.testkit.BackendGenerationContract;
import dev.tenon.itest.testkit.BackendGivenContract;
import dev.tenon.itest.testkit.BackendLifeContract;
import dev.tenon.itest.testkit.BackendNumbersContract;
import dev.tenon.itest.testkit.BackendReplayContract;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// A part of what is tested, by name.
public enum Suite {
    /// Ops, whole models in all formats, and what comes with tokens against the reference.
    OPS(BackendNumbersContract.class, BackendGivenContract.class),
    /// Batches, fusion, and the order of launches.
    SCHEDULE(BackendBatchContract.class),
    /// Steps that run again, and tokens that the device chooses.
    CAPTURE(BackendGenerationContract.class, BackendReplayContract.class),
    /// Opening and closing, threads, limits, memory, errors.
    QUEUE(BackendLifeContract.class, BackendContract.class),
    /// Files of models, sound and broken, and formats of weights.
    GGUF,
    /// A server of its own process, by HTTP.
    SERVER;

    private final Set<Class<?>> parts;

    Suite(Class<?>... parts) {
        this.parts = Set.of(parts);
    }

    /// {@return the suite of a name, or all for `all`; empty if there is none}
    ///
    /// @param name what the command line says
    public static Optional<List<Suite>> named(String name) {
        if (name.equals("all")) {
            return Optional.of(List.of(values()));
        }
        return Arrays.stream(values())
                .filter(suite -> suite.toString().equals(name))
                .findFirst()
                .map(List::of);
    }

    /// {@return all names, for messages}
    public static String names() {
        return Arrays.stream(values()).map(Suite::toString).collect(Collectors.joining(", "));
    }

    /// {@return whether it is a part of the contract of a backend}
    public boolean needsBackend() {
        return !parts.isEmpty();
    }

    /// {@return whether a test of the backend contract belongs to it}
    ///
    /// @param declaring the class that the test's method is written in
    boolean has(Class<?> declaring) {
        return parts.contains(declaring);
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
