package dev.tenon.backend.cpu.vector.threads;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The processor that the calling thread runs on (Linux: `sched_getcpu`, some nanoseconds a call).
///
/// Loading this class looks for the function. Safe for any thread.
final class CurrentProcessor {
    /// What [#index()] returns where the processor is not known.
    static final int UNKNOWN = -1;

    private static final Logger LOG = LoggerFactory.getLogger(CurrentProcessor.class);
    private static final MethodHandle GET = find();

    private CurrentProcessor() {}

    private static MethodHandle find() {
        try {
            Linker linker = Linker.nativeLinker();
            Optional<MemorySegment> function = linker.defaultLookup().find("sched_getcpu");
            return function.map(f ->
                            linker.downcallHandle(f, FunctionDescriptor.of(JAVA_INT), Linker.Option.critical(false)))
                    .orElse(null);
        } catch (IllegalCallerException | UnsupportedOperationException e) {
            LOG.debug("Threads of a team do not see on which processors they are: {}", e.toString());
            return null;
        }
    }

    /// {@return index of the processor that the thread was on just now, or [#UNKNOWN]}
    static int index() {
        if (GET == null) {
            return UNKNOWN;
        }
        try {
            return Math.max(UNKNOWN, (int) GET.invokeExact());
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }
}
