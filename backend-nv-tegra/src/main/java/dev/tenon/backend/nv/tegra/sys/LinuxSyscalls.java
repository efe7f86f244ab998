package dev.tenon.backend.nv.tegra.sys;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/// The system calls of this machine, through the C library. Linux on aarch64 or x86-64 only.
public final class LinuxSyscalls implements Syscalls {
    private static final long POLLFD_BYTES = 8;

    private final MemoryLayout stateLayout = Linker.Option.captureStateLayout();
    private final VarHandle errno = stateLayout.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private final MethodHandle open;
    private final MethodHandle close;
    private final MethodHandle ioctl;
    private final MethodHandle mmap;
    private final MethodHandle munmap;
    private final MethodHandle poll;

    /// Looks the functions up.
    ///
    /// @throws BackendException (`BACKEND-001`) if this is no Linux or native access is not allowed
    public LinuxSyscalls() {
        String os = System.getProperty("os.name");
        if (!os.startsWith("Linux")) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE, "nvgpu and nvmap are drivers of Linux; this is " + os + ".");
        }
        try {
            // open and ioctl are variadic, which on aarch64 may place the last argument elsewhere.
            open = find("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT), 2);
            ioctl = find("ioctl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG), 2);
            close = find("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT), -1);
            mmap = find(
                    "mmap",
                    FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG),
                    -1);
            munmap = find("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG), -1);
            poll = find("poll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT), -1);
        } catch (IllegalCallerException e) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    "Native access is not allowed: " + e.getMessage()
                            + ". Start with --enable-native-access=ALL-UNNAMED.",
                    0,
                    e);
        }
    }

    private static MethodHandle find(String name, FunctionDescriptor descriptor, int firstVariadic) {
        Linker linker = Linker.nativeLinker();
        Linker.Option keepErrno = Linker.Option.captureCallState("errno");
        MemorySegment function = linker.defaultLookup()
                .find(name)
                .orElseThrow(() ->
                        new BackendException(ErrorCode.BACKEND_UNAVAILABLE, "The C library has no " + name + "."));
        return firstVariadic < 0
                ? linker.downcallHandle(function, descriptor, keepErrno)
                : linker.downcallHandle(function, descriptor, keepErrno, Linker.Option.firstVariadicArg(firstVariadic));
    }

    @Override
    public int open(String path, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(stateLayout);
            int fd = (int) open.invokeExact(state, arena.allocateFrom(path), flags, 0);
            return result(fd, state);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    @Override
    public int close(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(stateLayout);
            int result = (int) close.invokeExact(state, fd);
            return result(result, state);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    @Override
    public int ioctl(int fd, long request, long argument) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(stateLayout);
            int result = (int) ioctl.invokeExact(state, fd, request, argument);
            return result(result, state);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    @Override
    public long mmap(long lengthBytes, int protection, int flags, int fd, long offset) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(stateLayout);
            long address = (long) mmap.invokeExact(state, 0L, lengthBytes, protection, flags, fd, offset);
            return address == -1 ? -(int) errno.get(state, 0L) : address;
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    @Override
    public int munmap(long address, long lengthBytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(stateLayout);
            int result = (int) munmap.invokeExact(state, address, lengthBytes);
            return result(result, state);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    @Override
    public int poll(int fd, int events, int timeoutMillis) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(stateLayout);
            MemorySegment entry = arena.allocate(POLLFD_BYTES, 4);
            entry.set(JAVA_INT, 0, fd);
            entry.set(JAVA_SHORT, 4, (short) events);
            int count = (int) poll.invokeExact(state, entry, 1L, timeoutMillis);
            return count > 0 ? Short.toUnsignedInt(entry.get(JAVA_SHORT, 6)) : result(count, state);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    private int result(int value, MemorySegment state) {
        return value == -1 ? -(int) errno.get(state, 0L) : value;
    }

    private static RuntimeException rethrow(Throwable t) {
        if (t instanceof RuntimeException e) {
            throw e;
        }
        if (t instanceof Error e) {
            throw e;
        }
        throw new IllegalStateException(t);
    }
}
