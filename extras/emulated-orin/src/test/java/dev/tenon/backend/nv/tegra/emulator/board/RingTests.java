package dev.tenon.backend.nv.tegra.emulator.board;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi;
import dev.tenon.backend.nv.tegra.abi.AddressSpaceAbi.MapBufferEx;
import dev.tenon.backend.nv.tegra.command.Commands;
import dev.tenon.backend.nv.tegra.command.PushBuffer;
import dev.tenon.backend.nv.tegra.emulator.launch.KernelLibrary;
import dev.tenon.backend.nv.tegra.gpu.Gpfifo;
import dev.tenon.backend.nv.tegra.sys.Linux;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A ring written by hand: what the GPU does with each entry, right or wrong. Oracle: the format of
/// entries is from the host's manual; that a doorbell is needed, and what write-combined words do,
/// is from a hardware log; the rest is belief.
class RingTests {
    private static final int RW = Linux.PROT_READ | Linux.PROT_WRITE;
    private static final int WRITE_COMBINED = 1;
    private static final int ENTRIES = 512;

    private final EmulatedBoard board = new EmulatedBoard(EmulatorOptions.orin(), new KernelLibrary());
    private final RawCalls calls = new RawCalls(board);
    private final int space = calls.addressSpace();
    private final MemorySegment doorbell = host(calls.ctrl, 0x1000);
    private final int ringFd = calls.buffer(4096);
    private final int userdFd = calls.buffer(4096);
    private final MemorySegment ring = host(ringFd, 4096);
    private final MemorySegment userd = host(userdFd, 4096);
    private final int dataFd = calls.buffer(4096);
    private final MemorySegment data = host(dataFd, 4096);
    private final long dataVa = map(dataFd);
    private final int token = channel();

    @AfterEach
    void close() {
        board.close();
    }

    private MemorySegment host(int fd, long bytes) {
        return MemorySegment.ofAddress(board.mmap(bytes, RW, Linux.MAP_SHARED, fd, 0))
                .reinterpret(bytes);
    }

    private long map(int fd) {
        return calls.call(
                space,
                AddressSpaceAbi.MAP_BUFFER_EX,
                MapBufferEx.STRUCT,
                Map.of(MapBufferEx.COMPR_KIND, -1L, MapBufferEx.DMABUF_FD, (long) fd, MapBufferEx.PAGE_SIZE, 4096L),
                MapBufferEx.OFFSET);
    }

    private int channel() {
        int group = calls.group();
        long channel = calls.channel(-1);
        assertEquals(0, calls.bindAddressSpace(space, channel));
        assertEquals(0, calls.bindGroup(group, channel, calls.subcontext(group, 1, space)));
        assertEquals(0, calls.watchdog(channel, 1));
        int number = (int) calls.setUp(channel, ENTRIES, 0x0A, ringFd, userdFd);
        assertEquals(0, calls.object(channel, 0xC7C0));
        return number;
    }

    /// Words that write a value into the data at 1024.
    private PushBuffer release(long value) {
        PushBuffer words = new PushBuffer();
        Commands.release(words, dataVa + 1024, value);
        return words;
    }

    private long released() {
        return data.get(ValueLayout.JAVA_LONG, 1024);
    }

    private void put(int put) {
        userd.set(ValueLayout.JAVA_INT, Gpfifo.PUT, put);
    }

    private void ringDoorbell() {
        doorbell.set(ValueLayout.JAVA_INT, 0x90, token);
        board.afterDoorbell();
    }

    private void submit(long entry) {
        ring.set(ValueLayout.JAVA_LONG, 0, entry);
        put(1);
        ringDoorbell();
    }

    private void refused(long entry, String expected) {
        submit(entry);
        assertEquals(1, board.dmesg().size(), board.dmesg().toString());
        assertTrue(board.dmesg().getFirst().contains(expected), board.dmesg().getFirst());
        assertEquals(0, released());
    }

    @Test
    void anEntryIsExecutedAndGetFollowsPut() {
        release(7).copyTo(data, 0);
        submit(Gpfifo.entry(dataVa, 6));
        assertEquals(7, released());
        assertEquals(1, userd.get(ValueLayout.JAVA_INT, Gpfifo.GET));
        assertEquals(List.of(), board.dmesg());
    }

    @Test
    void putAloneDoesNothing() {
        release(7).copyTo(data, 0);
        ring.set(ValueLayout.JAVA_LONG, 0, Gpfifo.entry(dataVa, 6));
        put(1);
        board.run();
        assertEquals(0, released());
        ringDoorbell();
        assertEquals(7, released());
    }

    @Test
    void aDoorbellWithoutPutDoesNothing() {
        release(7).copyTo(data, 0);
        ring.set(ValueLayout.JAVA_LONG, 0, Gpfifo.entry(dataVa, 6));
        ringDoorbell();
        assertEquals(0, released());
    }

    @Test
    void aDoorbellOfAnotherChannelDoesNothing() {
        release(7).copyTo(data, 0);
        ring.set(ValueLayout.JAVA_LONG, 0, Gpfifo.entry(dataVa, 6));
        put(1);
        doorbell.set(ValueLayout.JAVA_INT, 0x90, token - 1);
        board.afterDoorbell();
        assertEquals(0, released());
        assertEquals(List.of("doorbell with token 510 of no channel"), board.dmesg());
    }

    /// Words are read when the entry is, not when it was written.
    @Test
    void wordsChangedBeforeTheDoorbellCount() {
        release(7).copyTo(data, 0);
        ring.set(ValueLayout.JAVA_LONG, 0, Gpfifo.entry(dataVa, 6));
        put(1);
        release(8).copyTo(data, 0);
        ringDoorbell();
        assertEquals(8, released());
    }

    @Test
    void reservedBitsAreRefused() {
        refused(Gpfifo.entry(dataVa, 6) | 1L << 40, "reserved bits");
    }

    @Test
    void anEntryWithoutWordsIsRefused() {
        refused(dataVa, "no words");
    }

    @Test
    void wordsThatAreNotMappedAreRefused() {
        refused(Gpfifo.entry(0x10000, 6), "mmu fault: command words");
    }

    @Test
    void wordsThatLeaveTheirBufferAreRefused() {
        refused(Gpfifo.entry(dataVa + 4080, 6), "mmu fault: command words");
    }

    @Test
    void aCutMethodIsRefused() {
        release(7).copyTo(data, 0);
        refused(Gpfifo.entry(dataVa, 3), "but they end");
    }

    @Test
    void whatIsNoHeaderIsRefused() {
        data.set(ValueLayout.JAVA_INT, 0, 0xC0000000);
        refused(Gpfifo.entry(dataVa, 1), "method header 0xc0000000");
    }

    @Test
    void putBeyondTheRingIsRefused() {
        put(ENTRIES);
        ringDoorbell();
        assertTrue(
                board.dmesg().getFirst().contains("PUT is 512"), board.dmesg().toString());
    }

    @Test
    void wordsInWriteCombinedMemoryAreRefused() {
        long handle = calls.create(4096);
        assertEquals(0, calls.alloc(handle, RawCalls.HEAP, 0x0900 << 16 | WRITE_COMBINED, 4096));
        int fd = (int) calls.getFd(handle);
        release(7).copyTo(host(fd, 4096), 0);
        refused(Gpfifo.entry(map(fd), 6), "write-combined");
    }

    /// After a fault the channel does nothing more.
    @Test
    void aTornDownChannelIgnoresDoorbells() {
        refused(dataVa, "no words");
        release(7).copyTo(data, 0);
        ring.set(ValueLayout.JAVA_LONG, 8, Gpfifo.entry(dataVa, 6));
        put(2);
        ringDoorbell();
        assertEquals(0, released());
    }

    /// Non-incrementing, immediate and increment-once headers, and words of zero.
    @Test
    void everyFormOfMethodIsDecoded() {
        int[] plain = release(9).toArray();
        int interrupt = 0x80000008;
        int[] words = {
            0x20030018, plain[2], plain[3], plain[4], 0, interrupt, 0xA0010017, plain[1], 0x6001001B, plain[5]
        };
        MemorySegment.copy(words, 0, data, ValueLayout.JAVA_INT, 0, words.length);
        submit(Gpfifo.entry(dataVa, words.length));
        assertEquals(9, released());
        assertEquals(List.of(), board.dmesg());
    }
}
