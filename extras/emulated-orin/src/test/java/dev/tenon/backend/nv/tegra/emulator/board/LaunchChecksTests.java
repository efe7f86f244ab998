package dev.tenon.backend.nv.tegra.emulator.board;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.command.Commands;
import dev.tenon.backend.nv.tegra.command.Geometry;
import dev.tenon.backend.nv.tegra.command.Methods;
import dev.tenon.backend.nv.tegra.command.PushBuffer;
import dev.tenon.backend.nv.tegra.command.Qmd;
import dev.tenon.backend.nv.tegra.command.QmdFormat;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.LoadedKernel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// What the GPU finds wrong with a launch or with command words. Oracle: the launch unit's error
/// bits are from public lists, bit 24 was met on a board (hardware log); which check gives which
/// bit is belief.
class LaunchChecksTests {
    private static final QmdFormat V3 = QmdFormat.V3;

    /// A launch of saxpy whose block is spoilt first.
    private static DynamicTest launch(String name, String expected, BiConsumer<Qmd, MemorySegment> spoil) {
        return launch(name, "saxpy", expected, spoil);
    }

    private static DynamicTest launch(
            String name, String kernelName, String expected, BiConsumer<Qmd, MemorySegment> spoil) {
        return DynamicTest.dynamicTest(name, () -> {
            Orin orin = new Orin();
            LoadedKernel kernel = orin.kernel(kernelName);
            GpuMemory block = orin.buffer(kernel.blockBytes());
            GpuMemory data = orin.buffer(4096);
            var arguments = orin.arguments(kernelName).set(0, data.va());
            if (kernelName.equals("saxpy")) {
                arguments.set(1, data.va() + 2048).set(2, 1f).set(3, 16);
            } else {
                arguments.set(1, 1);
            }
            kernel.write(block.host(), block.va(), Geometry.of(1, 32), 0, arguments);
            spoil.accept(new Qmd(V3, block.host().asSlice(kernel.qmdOffset())), block.host());
            PushBuffer words = new PushBuffer();
            Commands.launch(words, block.va() + kernel.qmdOffset(), QmdFormat.V3);
            submit(orin, words, expected);
        });
    }

    private static DynamicTest words(String name, String expected, Consumer<PushBuffer> commands) {
        return DynamicTest.dynamicTest(name, () -> {
            PushBuffer words = new PushBuffer();
            commands.accept(words);
            submit(new Orin(), words, expected);
        });
    }

    private static void submit(Orin orin, PushBuffer words, String expected) {
        orin.device.submit(words);
        if (expected.isEmpty()) {
            orin.device.synchronize();
            orin.close();
            return;
        }
        BackendException e = assertThrows(BackendException.class, orin.device::synchronize);
        assertTrue(e.getMessage().contains("torn"), e.getMessage());
        assertEquals(1, orin.board.dmesg().size(), orin.board.dmesg().toString());
        assertTrue(
                orin.board.dmesg().getFirst().contains(expected),
                orin.board.dmesg().getFirst());
        orin.release();
    }

    @TestFactory
    Stream<DynamicTest> launches() {
        return Stream.of(
                launch("nothing is wrong", "", (q, b) -> {}),
                launch("version", "version 2.0", (q, b) -> q.set(V3.majorVersion(), 2)),
                launch("code for sm_86", "code for 0x86", (q, b) -> q.set(V3.sass(), 0x86)),
                launch("no threads", "esr 0x00800000", (q, b) -> q.set(V3.blockX(), 0)),
                launch("too many threads", "esr 0x00040000", (q, b) -> q.set(V3.blockY(), 64)),
                launch("no blocks", "a grid of 0", (q, b) -> q.set(V3.gridX(), 0)),
                launch("no registers", "esr 0x00002000", (q, b) -> q.set(V3.registers(), 0)),
                launch("too many registers for the block", "esr 0x04000000", (q, b) -> {
                    q.set(V3.registers(), 255);
                    q.set(V3.blockX(), 1024);
                }),
                launch("too many barriers", "17 barriers", (q, b) -> q.set(V3.barriers(), 17)),
                launch("shared memory", "esr 0x00200000", (q, b) -> q.set(V3.sharedBytes(), 0x420)),
                launch("split of the cache", "esr 0x02000000", (q, b) -> q.set(V3.sharedBytes(), 0x10000)),
                launch(
                        "code between instructions",
                        "esr 0x00100000",
                        (q, b) -> q.set(V3.program(), q.get(V3.program()) + 64)),
                launch(
                        "code of nothing",
                        "illegal instruction",
                        (q, b) -> q.set(V3.program(), q.get(V3.program()) + 128)),
                launch("code that is not mapped", "mmu fault: code", (q, b) -> q.set(V3.program(), 0x10000)),
                launch("constant bank too small", "esr 0x00000080", (q, b) -> q.set(V3.constantSize(0), 0x16)),
                launch("constant bank missing", "esr 0x00000080", (q, b) -> q.set(V3.constantValid(0), 0)),
                launch(
                        "constant bank not mapped",
                        "mmu fault: constant bank 0",
                        (q, b) -> q.set(V3.constantAddress(0), 0x10000)),
                launch("threads in bank 0", "constant bank 0 says 7", (q, b) -> b.set(ValueLayout.JAVA_INT, 0, 7)),
                launch("blocks in bank 0", "constant bank 0 says 9", (q, b) -> b.set(ValueLayout.JAVA_INT, 12, 9)),
                launch("window in bank 0", "has windows", (q, b) -> b.set(ValueLayout.JAVA_LONG, 0x18, 0)),
                launch("stack pointer in bank 0", "stack pointer", (q, b) -> b.set(ValueLayout.JAVA_INT, 0x28, 0)),
                launch("a stack larger than there is", "esr 0x00000400", (q, b) -> q.set(V3.localBytes(), 1 << 20)),
                launch(
                        "a stack smaller than needed",
                        "local_array",
                        "esr 0x00000400",
                        (q, b) -> q.set(V3.localBytes(), 0x20)),
                launch(
                        "a pointer to nowhere",
                        "mmu fault: access of kernel saxpy",
                        (q, b) -> b.set(ValueLayout.JAVA_LONG, 0x160, 0x10000)),
                launch("a buffer too small", "mmu fault: access of kernel saxpy", (q, b) -> {
                    b.set(ValueLayout.JAVA_INT, 0x160 + 20, 1 << 20);
                    q.set(V3.gridX(), 1 << 20);
                    b.set(ValueLayout.JAVA_INT, 12, 1 << 20);
                }));
    }

    @TestFactory
    Stream<DynamicTest> commandWords() {
        return Stream.of(
                // Oracle: hardware log; both windows zero gave bit 24.
                DynamicTest.dynamicTest("windows at one place", () -> windows(0xFD00000000L)),
                DynamicTest.dynamicTest("windows at zero", () -> windows(0)),
                words("an unknown host method", "host method 0x40", b -> b.incrementing(0, 0x40, 1)),
                words("a class that the channel has not", "class 0x1234", b -> Commands.setObject(b, 1, 0x1234)),
                words("the copy class elsewhere", "class 0xc7b5", b -> Commands.setObject(b, 1, 0xC7B5)),
                words("a software subchannel", "software method", b -> b.incrementing(6, 0x200, 1)),
                words("a subchannel without a class", "has no class", b -> b.incrementing(4, 0x300, 0x182)),
                words(
                        "a descriptor that is not there",
                        "launch descriptor",
                        b -> Commands.launch(b, 0x10000, QmdFormat.V3)),
                words(
                        "a semaphore that is not aligned",
                        "no multiple of 8",
                        b -> b.incrementing(0, Methods.SEM_ADDR_LO, 0x10004, 0, 1, 0, Methods.SEM_ACQUIRE_CIRC_GEQ_64)),
                words(
                        "a timestamp that is not aligned",
                        "no multiple of 16",
                        b -> b.incrementing(
                                0, Methods.SEM_ADDR_LO, 0x10008, 0, 1, 0, Methods.SEM_RELEASE_TIMESTAMP_64)),
                words("a semaphore that is not mapped", "mmu fault: semaphore", b -> Commands.release(b, 0x10000, 1)));
    }

    private static void windows(long va) {
        Orin orin = new Orin();
        PushBuffer words = new PushBuffer();
        words.incrementing(Methods.COMPUTE, Methods.LOCAL_WINDOW_A, (int) (va >>> 32), (int) va);
        words.incrementing(Methods.COMPUTE, Methods.SHARED_WINDOW_A, (int) (va >>> 32), (int) va);
        orin.device.submit(words);
        orin.addOne(orin.buffer(4));
        assertThrows(BackendException.class, orin.device::synchronize);
        assertTrue(
                orin.board.dmesg().getFirst().contains("esr 0x01000000"),
                orin.board.dmesg().getFirst());
        orin.release();
    }
}
