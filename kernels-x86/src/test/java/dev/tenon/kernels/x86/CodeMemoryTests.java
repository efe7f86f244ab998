package dev.tenon.kernels.x86;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.kernels.x86.Operand.Gpr;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CodeMemoryTests {
    @BeforeEach
    void requireCode() {
        assumeFalse(LinearKernelTests.HERE.isEmpty(), "no code can be generated on this machine");
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
        try (CodeMemory code = new CodeMemory(adder());
                Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(8, 8);
            CodeMemory.Call.plain(code.entry(0), out, out, out, 1, 20, 300, 4000, 50000, 600000, 7000000, 80000000);
            assertEquals(87654321, out.get(ValueLayout.JAVA_LONG, 0));
        }
    }

    @Test
    void callsAfterCloseAndSecondClosesAreHarmless() {
        CodeMemory code = new CodeMemory(adder());
        MemorySegment entry = code.entry(0);
        code.close();
        code.close();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(8, 8);
            BackendException e = assertThrows(
                    BackendException.class, () -> CodeMemory.Call.plain(entry, out, out, out, 0, 0, 0, 0, 0, 0, 0, 0));
            assertEquals(ErrorCode.CLOSED, e.code());
        }
    }

    @Test
    void pagesAreNeverWritableAndExecutable() throws IOException {
        Path maps = Path.of("/proc/self/maps");
        assumeTrue(Files.exists(maps), "/proc is needed to see the pages");
        try (CodeMemory code = new CodeMemory(adder())) {
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
            BackendException e = assertThrows(BackendException.class, () -> new CodeMemory(adder()));
            assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
            try (X86KernelProvider provider = new X86KernelProvider("auto", "Q8_0", true, true)) {
                assertEquals(0, provider.kernels().size());
                assertEquals(true, provider.toString().contains("riscv64"), provider.toString());
            }
        } finally {
            System.setProperty("os.arch", arch);
        }
    }
}
