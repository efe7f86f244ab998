package dev.tenon.kernels.x86.call;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Executable memory: pages that are written first and then made read-only and executable, never
/// both.
///
/// The memory belongs to a shared [Arena]. A native call holds that arena while it runs, so
/// [#close] waits for running calls, however long they take, and a call after it fails with an
/// exception instead of jumping into nothing. Linux and macOS on x86-64; safe for any thread.
public final class CodeMemory implements AutoCloseable {
    private static final int PAGE = 4096;
    private static final int READ = 1;
    private static final int WRITE = 2;
    private static final int EXECUTE = 4;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_ANONYMOUS_LINUX = 0x20;
    private static final int MAP_ANONYMOUS_MAC = 0x1000;
    /// Time between two checks whether a call has returned.
    private static final long LOOK_NANOS = 50_000;
    /// Calls take milliseconds at most: a longer one is logged.
    private static final long TELL_SECONDS = 1;
    private static final Logger LOG = LoggerFactory.getLogger(CodeMemory.class);

    private final Arena arena = Arena.ofShared();
    private final String name;
    private final MemorySegment code;

    /// Makes code executable.
    ///
    /// @param name what the code is, for people
    /// @param bytes position-independent machine code; copied
    /// @throws BackendException if the platform has no such memory or forbids it
    public CodeMemory(String name, byte[] bytes) {
        this.name = name;
        long size = (bytes.length + PAGE - 1L) / PAGE * PAGE;
        boolean done = false;
        try {
            requirePlatform();
            code = map(bytes, size);
            done = true;
        } finally {
            if (!done) {
                arena.close();
            }
        }
    }

    /// {@return the place of a function, alive until [#close]}
    ///
    /// @param offset bytes from the start of the code
    public MemorySegment entry(int offset) {
        return code.asSlice(offset);
    }

    /// Unmaps the memory after the calls that run in it have returned; calls from then on fail. A
    /// thread in one of them may be suspended for any time, so this may wait for any time. Waiting
    /// is logged. Interrupts do not end the wait.
    @Override
    public void close() {
        close(
                System::nanoTime,
                seconds -> LOG.warn(
                        "The code of {} is freed when its last call returns, which has taken {} s so far",
                        name,
                        seconds));
    }

    /// The same with another clock.
    ///
    /// @param clock nanoseconds
    /// @param told is given the seconds waited, after one, two, four and so on
    void close(LongSupplier clock, LongConsumer told) {
        long begin = clock.getAsLong();
        long next = TELL_SECONDS;
        boolean interrupted = false;
        while (arena.scope().isAlive()) {
            try {
                arena.close();
            } catch (IllegalStateException inUse) {
                // Or another thread has closed it meanwhile, which ends the loop.
                long seconds = TimeUnit.NANOSECONDS.toSeconds(clock.getAsLong() - begin);
                if (seconds >= next && arena.scope().isAlive()) {
                    told.accept(seconds);
                    next = 2 * seconds;
                }
                // Nobody tells that a call has returned: that would cost time at each call.
                LockSupport.parkNanos(LOOK_NANOS);
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void requirePlatform() {
        String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        if (!arch.equals("amd64") && !arch.equals("x86_64")) {
            throw refused("the processor is " + arch + ", not x86-64", 0, null);
        }
        if (!os.contains("linux") && !os.contains("mac")) {
            throw refused("executable memory is implemented for Linux and macOS, not for " + os, 0, null);
        }
    }

    private MemorySegment map(byte[] bytes, long size) {
        Libc libc;
        try {
            libc = Libc.instance();
        } catch (IllegalCallerException | LinkageError e) {
            String reason = e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
            throw refused("native access is not allowed (--enable-native-access): " + reason, 0, e);
        }
        int anonymous = System.getProperty("os.name").startsWith("Mac") ? MAP_ANONYMOUS_MAC : MAP_ANONYMOUS_LINUX;
        long address = libc.mmap(size, READ | WRITE, MAP_PRIVATE | anonymous);
        MemorySegment memory = MemorySegment.ofAddress(address)
                .reinterpret(size, arena, s -> Libc.instance().munmap(address, size));
        MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, 0, bytes.length);
        libc.mprotect(address, size, READ | EXECUTE);
        return memory;
    }

    static BackendException refused(String reason, int errno, Throwable cause) {
        return new BackendException(
                ErrorCode.BACKEND_UNAVAILABLE,
                "No machine code can be generated: " + reason + ". Java kernels are used instead.",
                errno,
                cause);
    }

    /// {@return what a call of freed code throws}
    ///
    /// @param cause what the call itself threw, or null
    public static BackendException closed(Throwable cause) {
        return new BackendException(
                ErrorCode.CLOSED,
                "This kernel's code was freed when its bundle stopped. Load the model again.",
                0,
                cause);
    }

    /// {@return never; throws what a method handle threw}
    ///
    /// @param t what was thrown
    static RuntimeException rethrow(Throwable t) {
        if (t instanceof RuntimeException e) {
            throw e;
        }
        if (t instanceof Error e) {
            throw e;
        }
        throw new IllegalStateException(t);
    }
}
