package dev.tenon.backend.nv.tegra.command;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// A launch descriptor (queue meta data): everything the GPU needs to know of one launch, in 256 or
/// 384 bytes. A view of memory that somebody else owns.
public final class Qmd {
    /// Addresses of descriptors are multiples of this.
    public static final int ALIGNMENT = 256;
    /// Constant banks.
    public static final int BANKS = 8;

    private static final int GRID_CTA = 2;
    private static final int PREFETCH_UNIT_SHIFT = 8;
    private static final int MAX_PREFETCH = 0x1FF;
    private static final int ENABLE_SCHEDULE_PREFETCH = 0x13;
    private static final int BARRIER_OF_THE_GPU = 3;

    private final QmdFormat format;
    private final MemorySegment memory;

    /// @param format version
    /// @param memory where it is, at least [QmdFormat#bytes]
    public Qmd(QmdFormat format, MemorySegment memory) {
        this.format = format;
        this.memory = memory.asSlice(0, format.bytes());
    }

    /// {@return its version}
    public QmdFormat format() {
        return format;
    }

    /// {@return the bytes}
    public MemorySegment memory() {
        return memory;
    }

    /// {@return a field}
    ///
    /// @param bits where it is
    public long get(QmdFormat.Bits bits) {
        long value = 0;
        for (int bit = bits.low(), done = 0; bit <= bits.high(); ) {
            int offset = bit % 32;
            int count = Math.min(32 - offset, bits.high() - bit + 1);
            long word = memory.get(JAVA_INT_UNALIGNED, bit / 32 * 4L) & 0xFFFFFFFFL;
            value |= (word >>> offset & mask(count)) << done;
            bit += count;
            done += count;
        }
        return value;
    }

    /// Sets a field.
    ///
    /// @param bits where it is
    /// @param value a value that fits
    public void set(QmdFormat.Bits bits, long value) {
        int width = bits.high() - bits.low() + 1;
        if (width < 64 && value >>> width != 0) {
            throw new IllegalArgumentException("0x" + Long.toHexString(value) + " does not fit into bits " + bits.high()
                    + ":" + bits.low() + " of a launch descriptor");
        }
        long rest = value;
        for (int bit = bits.low(); bit <= bits.high(); ) {
            int offset = bit % 32;
            int count = Math.min(32 - offset, bits.high() - bit + 1);
            int at = bit / 32 * 4;
            long cleared = memory.get(JAVA_INT_UNALIGNED, at) & ~(mask(count) << offset);
            memory.set(JAVA_INT_UNALIGNED, at, (int) (cleared | (rest & mask(count)) << offset));
            rest = count == 64 ? 0 : rest >>> count;
            bit += count;
        }
    }

    private static long mask(int count) {
        return count == 64 ? -1 : (1L << count) - 1;
    }

    /// Writes all fields that do not change from launch to launch.
    ///
    /// @param program address of the code, a multiple of 128
    /// @param codeBytes its size
    /// @param resources what a block needs
    public void program(long program, long codeBytes, KernelResources resources) {
        if (program % 128 != 0) {
            throw new IllegalArgumentException("code at 0x" + Long.toHexString(program) + " is not 128-aligned");
        }
        memory.fill((byte) 0);
        set(format.groupId(), 0x3F);
        if (format == QmdFormat.V3) {
            set(format.globalCaching(), 1);
        } else {
            set(format.type(), GRID_CTA);
        }
        set(format.invalidateDataCaches(), 0xF);
        set(format.memoryBarrier(), 1);
        set(format.callLimit(), 1);
        set(format.samplerIndex(), 1);
        set(format.minorVersion(), 0);
        set(format.majorVersion(), format.major());
        set(format.registers(), resources.registers());
        set(format.barriers(), Math.max(1, resources.barriers()));
        set(format.localBytes(), resources.localBytes());
        set(format.program(), program);
        set(format.prefetchLow(), program >>> PREFETCH_UNIT_SHIFT & 0xFFFFFFFFL);
        set(format.prefetchHigh(), program >>> PREFETCH_UNIT_SHIFT + 32);
        set(format.prefetchSize(), Math.min(codeBytes >> PREFETCH_UNIT_SHIFT, MAX_PREFETCH));
        set(format.sass(), format.sassVersion());
        sharedBytes(resources.sharedBytes());
    }

    /// Sets the shared memory of a block, and the cache's split so that it fits.
    ///
    /// @param bytes a multiple of 128, at least 1024
    public void sharedBytes(int bytes) {
        int config = sharedConfig(bytes);
        set(format.sharedBytes(), bytes);
        set(format.minSharedConfig(), config);
        set(format.maxSharedConfigBits(), format.maxSharedConfig());
        set(format.targetSharedConfig(), config);
    }

    private int sharedConfig(int bytes) {
        for (int kib : format.sharedConfigs()) {
            if (bytes <= kib * 1024) {
                return kib / 4 + 1;
            }
        }
        throw new IllegalArgumentException("a block with " + bytes + " bytes of shared memory; at most "
                + format.sharedConfigs().getLast() + " KiB are known to work");
    }

    /// Sets the number of blocks and threads.
    ///
    /// @param geometry both
    public void geometry(Geometry geometry) {
        set(format.gridX(), geometry.gridX());
        set(format.gridY(), geometry.gridY());
        set(format.gridZ(), geometry.gridZ());
        set(format.blockX(), geometry.blockX());
        set(format.blockY(), geometry.blockY());
        set(format.blockZ(), geometry.blockZ());
    }

    /// Sets a constant bank.
    ///
    /// @param bank 0 to 7
    /// @param va its address, a multiple of 256
    /// @param bytes its size, a multiple of 16 up to 64 KiB
    /// @param invalidate whether it may have changed since a launch before
    public void constantBank(int bank, long va, int bytes, boolean invalidate) {
        if (va % ALIGNMENT != 0 || bytes % 16 != 0) {
            throw new IllegalArgumentException("constant bank " + bank + " of " + bytes + " bytes at 0x"
                    + Long.toHexString(va) + "; expected 256-aligned, and 16 bytes as unit");
        }
        set(format.constantAddress(bank), va >>> format.constantAddressShift());
        set(format.constantSize(bank), bytes >> 4);
        set(format.constantValid(bank), 1);
        set(format.constantInvalidate(bank), invalidate ? 1 : 0);
    }

    /// Has another launch scheduled when this one has ended, without a word in the list. Hopper only.
    /// The other one has to be sent to the scheduler once before, where it waits.
    ///
    /// @param next the other one's descriptor
    /// @param nextVa its address, a multiple of 256 below 2^40
    public void schedule(Qmd next, long nextVa) {
        set(format.dependentPointer(), nextVa / ALIGNMENT);
        set(format.dependent(), ENABLE_SCHEDULE_PREFETCH);
        set(format.taskChasing(), 1);
        set(format.memoryBarrier(), BARRIER_OF_THE_GPU);
        next.set(format.requireScheduling(), 1);
        next.set(format.selfCopy(), 1);
    }

    /// Lets the other launch start when the program of this one says so; its program has to wait
    /// where it needs results. Hopper only, after [#schedule].
    ///
    /// @param next the other one's descriptor
    /// @param latch a number that no other pair of launches has
    public void startEarly(Qmd next, int latch) {
        set(format.preExit(), 1);
        set(format.arriveAtLatch(), 1);
        set(format.arriveLatch(), Integer.toUnsignedLong(latch));
        next.set(format.waitOnLatch(), 1);
        next.set(format.waitLatch(), Integer.toUnsignedLong(latch));
        next.set(format.latchInvalidate(), 3);
    }

    /// Has instructions read again, because the code's memory held other code before.
    ///
    /// @param invalidate whether
    public void invalidateInstructions(boolean invalidate) {
        set(format.invalidateInstructions(), invalidate ? 1 : 0);
    }

    /// Has a 64-bit value and the time written when the launch ends. Not used on Tegra: a
    /// descriptor is read again by then, and may have been written for another launch; signals go
    /// through the push buffer.
    ///
    /// @param va address, a multiple of 16
    /// @param value the value
    public void release(long va, long value) {
        set(format.releaseEnable(), 1);
        set(format.releaseStructureSize(), 0);
        set(format.releasePayload64(), 1);
        set(format.releaseAddress(), va);
        set(format.releasePayload(), value);
    }
}
