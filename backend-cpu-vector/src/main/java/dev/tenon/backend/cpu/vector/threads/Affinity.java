package dev.tenon.backend.cpu.vector.threads;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.BitSet;

/// The processors that the calling thread may run on (Linux: `sched_getaffinity`, `sched_setaffinity`).
///
/// Masks are the system's: one bit a processor, in words of 64. Safe for any thread.
final class Affinity {
    private static final int INVALID = 22;
    private static final int LEAST_BYTES = 128;
    private static final int MOST_BYTES = 1 << 16;
    private static final int CALLING_THREAD = 0;
    private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private final MethodHandle get;
    private final MethodHandle set;
    private final long bytes;

    /// Looks for the system's functions and for the size of its masks.
    ///
    /// @param os system property `os.name`
    /// @throws BackendException (`BACKEND-001`) if this is not Linux, or native access is not allowed, or
    ///     the system refuses
    Affinity(String os) {
        if (!os.startsWith("Linux")) {
            throw refused("that is done on Linux only, and this is " + os, 0, null);
        }
        try {
            get = find("sched_getaffinity");
            set = find("sched_setaffinity");
        } catch (IllegalCallerException | UnsupportedOperationException e) {
            throw refused(
                    "native access is not allowed (" + e.getMessage()
                            + "). Start Java with --enable-native-access=ALL-UNNAMED, or with"
                            + " --enable-native-access=dev.tenon.backend.cpu.vector on a module path",
                    0,
                    e);
        }
        bytes = maskBytes();
    }

    private static MethodHandle find(String name) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().find(name).orElseThrow(() -> refused("the C library has no " + name, 0, null)),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS),
                Linker.Option.captureCallState("errno"));
    }

    /// A mask that is too short for the machine's processors is answered by EINVAL.
    private long maskBytes() {
        for (long size = LEAST_BYTES; ; size *= 2) {
            try (Arena arena = Arena.ofConfined()) {
                int errno = call(get, arena.allocate(size, Long.BYTES));
                if (errno == 0) {
                    return size;
                }
                if (errno != INVALID || size == MOST_BYTES) {
                    throw refused("sched_getaffinity failed with errno " + errno, errno, null);
                }
            }
        }
    }

    /// {@return memory for a mask}
    ///
    /// @param arena owns it
    MemorySegment mask(Arena arena) {
        return arena.allocate(bytes, Long.BYTES);
    }

    /// {@return a mask of one processor}
    ///
    /// @param arena owns it
    /// @param cpu index of the processor
    MemorySegment mask(Arena arena, int cpu) {
        MemorySegment mask = mask(arena);
        mask.setAtIndex(JAVA_LONG, cpu / Long.SIZE, 1L << cpu % Long.SIZE);
        return mask;
    }

    /// {@return the indices of a mask's processors, ascending}
    ///
    /// @param mask the mask
    static int[] processors(MemorySegment mask) {
        return BitSet.valueOf(mask.toArray(JAVA_LONG)).stream().toArray();
    }

    /// Reads the calling thread's mask.
    ///
    /// @param mask is filled
    /// @throws BackendException (`BACKEND-001`) if the system refuses
    void get(MemorySegment mask) {
        int errno = call(get, mask);
        if (errno != 0) {
            throw refused("sched_getaffinity failed with errno " + errno, errno, null);
        }
    }

    /// Sets the calling thread's mask.
    ///
    /// @param mask the processors
    /// @throws BackendException (`BACKEND-001`) if the system refuses
    void set(MemorySegment mask) {
        int errno = call(set, mask);
        if (errno != 0) {
            throw refused("sched_setaffinity failed with errno " + errno, errno, null);
        }
    }

    /// {@return 0, or errno}
    private static int call(MethodHandle function, MemorySegment mask) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            int result = (int) function.invokeExact(state, CALLING_THREAD, mask.byteSize(), mask);
            return result == 0 ? 0 : (int) ERRNO.get(state, 0L);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    /// {@return why threads are not pinned}
    static BackendException refused(String reason, int errno, Throwable cause) {
        return new BackendException(
                ErrorCode.BACKEND_UNAVAILABLE, "Threads are not pinned: " + reason + ".", errno, cause);
    }
}
