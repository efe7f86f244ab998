package dev.tenon.kernels.x86.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.cpu.Here;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CodeMemoryTests {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    @BeforeEach
    void requireCode() {
        assumeFalse(Here.SETS.isEmpty(), "no code can be generated on this machine");
    }

    /// Stores the sum of the numbers to memory at the first pointer.
    private static byte[] adder() {
        Assembler a = new Assembler(false);
        a.add(Gpr.RCX, Gpr.R8);
        a.add(Gpr.RCX, Gpr.R9);
        for (int i = 0; i < 5; i++) {
            a.add(Gpr.RCX, Assembler.stackArgument(i, 0));
        }
        a.mov(Operand.mem(Gpr.RDI), Gpr.RCX);
        a.ret();
        return a.assemble();
    }

    @Test
    void eightNumbersArriveWhereTheKernelsReadThem() {
        try (CodeMemory code = new CodeMemory("adder", adder());
                Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(8, 8);
            NativeCall.plain(code.entry(0), out, out, out, 1, 20, 300, 4000, 50000, 600000, 7000000, 80000000);
            assertEquals(87654321, out.get(ValueLayout.JAVA_LONG, 0));
        }
    }

    @Test
    void callsAfterCloseAndSecondClosesAreHarmless() {
        CodeMemory code = new CodeMemory("adder", adder());
        MemorySegment entry = code.entry(0);
        code.close();
        code.close();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(8, 8);
            BackendException e = assertThrows(
                    BackendException.class, () -> NativeCall.plain(entry, out, out, out, 0, 0, 0, 0, 0, 0, 0, 0));
            assertEquals(ErrorCode.CLOSED, e.code());
        }
    }

    /// Stores 1 to memory at the first pointer and returns when the second one's is not 0.
    private static byte[] waiter() {
        Assembler a = new Assembler(false);
        a.mov(Gpr.RAX, 1);
        a.mov(Operand.mem(Gpr.RDI), Gpr.RAX);
        a.label("look");
        a.mov(Gpr.RAX, Operand.mem(Gpr.RSI));
        a.cmp(Gpr.RAX, 0);
        a.j(Assembler.If.ZERO, "look");
        a.ret();
        return a.assemble();
    }

    /// Each look at the clock finds an hour gone, as after a machine was suspended.
    @Test
    @Timeout(600)
    void closeWaitsForACallHoweverLongItTakes() throws Exception {
        CodeMemory code = new CodeMemory("waiter", waiter());
        MemorySegment entry = code.entry(0);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment begun = arena.allocate(8, 8);
            MemorySegment end = arena.allocate(8, 8);
            FutureTask<Void> call =
                    new FutureTask<>(() -> NativeCall.plain(entry, begun, end, end, 0, 0, 0, 0, 0, 0, 0, 0), null);
            Thread.ofPlatform().daemon().start(call);
            while ((long) LONG.getVolatile(begun, 0L) == 0) {
                assertFalse(call.isDone(), call::toString);
                Thread.onSpinWait();
            }
            AtomicLong hours = new AtomicLong();
            List<Long> told = new CopyOnWriteArrayList<>();
            FutureTask<Boolean> close = new FutureTask<>(() -> {
                code.close(() -> TimeUnit.HOURS.toNanos(hours.getAndIncrement()), told::add);
                return Thread.currentThread().isInterrupted();
            });
            try {
                Thread closer = Thread.ofPlatform().daemon().start(close);
                awaitLooks(hours, 5, close);
                closer.interrupt();
                awaitLooks(hours, 15, close);
                assertFalse(call.isDone(), call::toString);
            } finally {
                LONG.setVolatile(end, 0L, 1L);
                call.get();
            }
            assertTrue(close.get(), "the interrupt was lost");
            assertEquals(List.of(3600L, 2 * 3600L, 4 * 3600L, 8 * 3600L), told.subList(0, 4));
            assertThrows(
                    BackendException.class, () -> NativeCall.plain(entry, begun, end, end, 0, 0, 0, 0, 0, 0, 0, 0));
        }
    }

    private static void awaitLooks(AtomicLong looks, long count, FutureTask<?> close) {
        while (looks.get() < count) {
            assertFalse(close.isDone(), close::toString);
            Thread.onSpinWait();
        }
    }

    @Test
    void pagesAreNeverWritableAndExecutable() throws IOException {
        Path maps = Path.of("/proc/self/maps");
        assumeTrue(Files.exists(maps), "/proc is needed to see the pages");
        try (CodeMemory code = new CodeMemory("adder", adder())) {
            String start = String.format("%x-", code.entry(0).address());
            String line = Files.readAllLines(maps).stream()
                    .filter(l -> l.startsWith(start))
                    .findFirst()
                    .orElseThrow();
            assertEquals("r-xp", line.split(" ")[1]);
        }
    }

    @Test
    void anotherProcessorIsRefusedWithATypedError() {
        String arch = System.getProperty("os.arch");
        System.setProperty("os.arch", "riscv64");
        try {
            BackendException e = assertThrows(BackendException.class, () -> new CodeMemory("adder", adder()));
            assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
        } finally {
            System.setProperty("os.arch", arch);
        }
    }
}
