package dev.tenon.backend.nv.tegra.emulator.board;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.backend.nv.tegra.command.Commands;
import dev.tenon.backend.nv.tegra.command.Methods;
import dev.tenon.backend.nv.tegra.command.PushBuffer;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.GpuSignal;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// The copy engine of an emulated board, named as in the list of tests that boards have passed. Oracle:
/// belief.
class CopyTests {
    private static void randomize(GpuMemory memory, long seed) {
        Random random = new Random(seed);
        for (long i = 0; i < memory.sizeBytes() / 8; i++) {
            memory.host().setAtIndex(ValueLayout.JAVA_LONG, i, random.nextLong());
        }
    }

    private static void assertSame(GpuMemory expected, GpuMemory found, long bytes, String what) {
        assertEquals(-1, MemorySegment.mismatch(expected.host(), 0, bytes, found.host(), 0, bytes), what);
    }

    /// hcq copy, and small sizes of B4.
    @Test
    void hcqCopy() {
        try (Orin orin = new Orin()) {
            GpuMemory from = orin.buffer(16 << 20);
            GpuMemory to = orin.buffer(16 << 20);
            new Random(1).ints(from.sizeBytes() / 4).forEach(new java.util.function.IntConsumer() {
                private long at;

                @Override
                public void accept(int value) {
                    from.host().setAtIndex(ValueLayout.JAVA_INT, at++, value);
                }
            });
            for (int bytes : new int[] {1, 3, 64, 4096, 65536, 1 << 20, 16 << 20}) {
                to.host().fill((byte) 0);
                orin.device.await(orin.device.copy(from.va(), to.va(), bytes));
                assertEquals(-1, MemorySegment.mismatch(from.host(), 0, bytes, to.host(), 0, bytes), bytes + " bytes");
            }
        }
    }

    @Test
    void hcqMemoryBarrierBeforeCopy() {
        try (Orin orin = new Orin(EmulatorOptions.orin().withDeferredLaunches(2))) {
            GpuMemory out = orin.buffer(4096);
            GpuMemory copy = orin.buffer(4096);
            orin.squares(out, 1024, 256);
            orin.device.copy(out.va(), copy.va(), 4096);
            orin.device.synchronize();
            assertEquals(1023 * 1023 + 1, copy.host().getAtIndex(ValueLayout.JAVA_INT, 1023));
        }
    }

    /// hcq copy_long.
    @Test
    void hcqCopyLong() {
        try (Orin orin = new Orin()) {
            GpuMemory from = orin.buffer(64 << 20);
            GpuMemory to = orin.buffer(64 << 20);
            randomize(from, 2);
            orin.device.await(orin.device.copy(from.va(), to.va(), 64 << 20));
            assertSame(from, to, 64 << 20, "64 MiB");
        }
    }

    /// hcq copy_64bit: a copy beyond 2^31 bytes goes out in pieces that the engine's 32 bits can
    /// say. Only the words: memory of that size is too much for a test.
    @Test
    void hcqCopy64bit() {
        PushBuffer words = new PushBuffer();
        long bytes = (1L << 32) + 4096;
        Commands.copy(words, 0x12_0000_0000L, 0x34_0000_0000L, bytes);
        long copied = 0;
        int pieces = 0;
        for (int i = 0; i < words.size(); ) {
            int header = words.word(i);
            int method = (header & 0xFFF) << 2;
            if (method == Methods.COPY_OFFSET_IN_UPPER) {
                long source = (long) words.word(i + 1) << 32 | words.word(i + 2) & 0xFFFFFFFFL;
                long target = (long) words.word(i + 3) << 32 | words.word(i + 4) & 0xFFFFFFFFL;
                assertEquals(0x12_0000_0000L + copied, source);
                assertEquals(0x34_0000_0000L + copied, target);
            } else if (method == Methods.COPY_LINE_LENGTH) {
                long length = Integer.toUnsignedLong(words.word(i + 1));
                assertTrue(length >= 1 && length <= 1L << 31, length + " bytes in one piece");
                copied += length;
                pieces++;
            }
            i += 1 + (header >>> 16 & 0x1FFF);
        }
        assertEquals(bytes, copied);
        assertEquals(3, pieces);
    }

    /// hcq update_copy, update_copy_long: source and target of encoded words are patched.
    @Test
    void hcqUpdateCopy() {
        try (Orin orin = new Orin()) {
            for (int bytes : new int[] {4096, 64 << 20}) {
                GpuMemory[] memory = {orin.buffer(bytes), orin.buffer(bytes), orin.buffer(bytes)};
                randomize(memory[0], bytes);
                PushBuffer words = new PushBuffer();
                int at = Commands.copy(words, memory[0].va(), memory[1].va(), bytes);
                orin.device.await(orin.device.submitCopy(words));
                assertSame(memory[0], memory[1], bytes, "before the update");
                words.patch(at, (int) (memory[1].va() >>> 32));
                words.patch(at + 1, (int) memory[1].va());
                words.patch(at + 2, (int) (memory[2].va() >>> 32));
                words.patch(at + 3, (int) memory[2].va());
                memory[0].host().fill((byte) 0);
                orin.device.await(orin.device.submitCopy(words));
                assertSame(memory[1], memory[2], bytes, "after the update");
                memory[1].host().fill((byte) 0);
                assertTrue(memory[2].host().mismatch(memory[1].host()) >= 0);
            }
        }
    }

    /// hcq small_copies_from_host_buf, intercopy, transfer: what the processor has just written is
    /// copied, by way of other buffers and back.
    @Test
    void hcqSmallCopiesFromHostBuf() {
        try (Orin orin = new Orin()) {
            GpuMemory host = orin.buffer(4096);
            GpuMemory first = orin.buffer(4096);
            GpuMemory second = orin.buffer(4096);
            GpuMemory back = orin.buffer(4096);
            for (int i = 0; i < 500; i++) {
                host.host().setAtIndex(ValueLayout.JAVA_INT, i, i ^ 0x5A5A);
                orin.device.copy(host.va() + 4L * i, first.va() + 4L * i, 4);
                orin.device.copy(first.va() + 4L * i, second.va() + 4L * i, 4);
                orin.device.await(orin.device.copy(second.va() + 4L * i, back.va() + 4L * i, 4));
                assertEquals(i ^ 0x5A5A, back.host().getAtIndex(ValueLayout.JAVA_INT, i));
            }
            assertSame(host, back, 4096, "all of them");
        }
    }

    /// hcq speed_copy_bandwidth: the signals around a copy carry times in their order. How much lies
    /// between them says nothing on an emulated board.
    @Test
    void hcqSpeedCopyBandwidth() {
        try (Orin orin = new Orin()) {
            GpuMemory from = orin.buffer(1 << 20);
            GpuMemory to = orin.buffer(1 << 20);
            GpuMemory signals = orin.buffer(4096);
            GpuSignal begin = new GpuSignal(signals, 0);
            GpuSignal end = new GpuSignal(signals, 16);
            PushBuffer words = new PushBuffer();
            Commands.copySignal(words, begin.va(), 1);
            Commands.copy(words, from.va(), to.va(), 1 << 20);
            Commands.copySignal(words, end.va(), 2);
            orin.device.await(orin.device.submitCopy(words));
            assertEquals(1, begin.value());
            assertEquals(2, end.value());
            assertTrue(begin.nanos() > 0 && end.nanos() > begin.nanos());
        }
    }
}
