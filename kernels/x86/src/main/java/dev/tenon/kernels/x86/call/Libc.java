package dev.tenon.kernels.x86.call;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.tenon.api.error.BackendException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/// The three system calls.
final class Libc {
    private static final StructLayoutHolder STATE = new StructLayoutHolder();

    private final MethodHandle mmap = find(
            "mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private final MethodHandle mprotect =
            find("mprotect", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private final MethodHandle munmap = find("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

    /// Where errno is saved.
    private static final class StructLayoutHolder {
        final MemoryLayout layout = Linker.Option.captureStateLayout();
        final VarHandle errno = layout.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    }

    private static final class Holder {
        static final Libc INSTANCE = new Libc();
    }

    static Libc instance() {
        return Holder.INSTANCE;
    }

    private static MethodHandle find(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup()
                        .find(name)
                        .orElseThrow(() -> CodeMemory.refused("the C library has no " + name, 0, null)),
                descriptor,
                Linker.Option.captureCallState("errno"));
    }

    long mmap(long size, int protection, int flags) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment state = call.allocate(STATE.layout);
            long address = (long) mmap.invokeExact(state, 0L, size, protection, flags, -1, 0L);
            if (address == -1) {
                throw failed("mmap", state);
            }
            return address;
        } catch (Throwable t) {
            throw CodeMemory.rethrow(t);
        }
    }

    void mprotect(long address, long size, int protection) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment state = call.allocate(STATE.layout);
            if ((int) mprotect.invokeExact(state, address, size, protection) != 0) {
                throw failed("mprotect to executable", state);
            }
        } catch (Throwable t) {
            throw CodeMemory.rethrow(t);
        }
    }

    void munmap(long address, long size) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment state = call.allocate(STATE.layout);
            if ((int) munmap.invokeExact(state, address, size) != 0) {
                throw failed("munmap", state);
            }
        } catch (Throwable t) {
            throw CodeMemory.rethrow(t);
        }
    }

    private static BackendException failed(String call, MemorySegment state) {
        int errno = (int) STATE.errno.get(state, 0L);
        return CodeMemory.refused(
                call + " failed with errno " + errno + ", executable memory may be forbidden here", errno, null);
    }
}
