package dev.tenon.backend.nv.tegra.command;

import java.util.List;

/// Where the fields of a launch descriptor (QMD) are, by version. Bit b is bit b mod 32 of word b /
/// 32.
public enum QmdFormat {
    /// 3.0: Ampere, so ga10b.
    V3(256, 3, 0x87, 0x1A),
    /// 4.0: Hopper.
    V4(384, 4, 0x90, 0x3A);

    /// A range of bits.
    ///
    /// @param high last bit
    /// @param low first bit
    public record Bits(int high, int low) {
        /// {@return the same field of a later element of an array}
        Bits plus(int distance) {
            return new Bits(high + distance, low + distance);
        }
    }

    private final int bytes;
    private final int major;
    private final int sassVersion;
    private final int maxSharedConfig;

    QmdFormat(int bytes, int major, int sassVersion, int maxSharedConfig) {
        this.bytes = bytes;
        this.major = major;
        this.sassVersion = sassVersion;
        this.maxSharedConfig = maxSharedConfig;
    }

    /// {@return size of a descriptor}
    public int bytes() {
        return bytes;
    }

    /// {@return how much of a cache can be shared memory, in KiB, the smallest first}
    List<Integer> sharedConfigs() {
        return this == V3 ? List.of(32, 64, 100) : List.of(32, 64, 100, 132, 164, 196, 228);
    }

    int major() {
        return major;
    }

    /// {@return architecture of the code, such as 0x87}
    public int sassVersion() {
        return sassVersion;
    }

    /// {@return the largest shared memory configuration, in units of 4 KiB plus 1}
    public int maxSharedConfig() {
        return maxSharedConfig;
    }

    private Bits pick(int high3, int low3, int high4, int low4) {
        return this == V3 ? new Bits(high3, low3) : new Bits(high4, low4);
    }

    Bits groupId() {
        return pick(133, 128, 21, 16);
    }

    /// Hopper only.
    Bits type() {
        return new Bits(25, 23);
    }

    /// Ampere only.
    Bits globalCaching() {
        return new Bits(134, 134);
    }

    /// Texture header, texture sampler, texture data and shader data caches.
    Bits invalidateDataCaches() {
        return pick(189, 186, 605, 602);
    }

    Bits invalidateInstructions() {
        return pick(190, 190, 606, 606);
    }

    Bits prefetchLow() {
        return pick(287, 256, 1375, 1344);
    }

    Bits prefetchHigh() {
        return pick(1640, 1632, 1392, 1376);
    }

    Bits prefetchSize() {
        return pick(1649, 1641, 1401, 1393);
    }

    Bits memoryBarrier() {
        return pick(369, 368, 1137, 1136);
    }

    /// Hopper only, like the next ten: the launch to be scheduled when this one has ended.
    Bits dependentPointer() {
        return new Bits(479, 448);
    }

    /// Whether there is one; what happens to it; whether it is fetched ahead.
    Bits dependent() {
        return new Bits(372, 368);
    }

    /// Whether the descriptor is made as at first when the launch ends, so that it can run again.
    Bits selfCopy() {
        return new Bits(378, 378);
    }

    Bits taskChasing() {
        return new Bits(382, 382);
    }

    /// Whether the launch waits until another one schedules it.
    Bits requireScheduling() {
        return new Bits(30, 30);
    }

    Bits arriveAtLatch() {
        return new Bits(28, 28);
    }

    Bits arriveLatch() {
        return new Bits(1503, 1472);
    }

    Bits waitOnLatch() {
        return new Bits(29, 29);
    }

    Bits waitLatch() {
        return new Bits(1535, 1504);
    }

    /// Data caches that are invalidated when the wait is over.
    Bits latchInvalidate() {
        return new Bits(1407, 1406);
    }

    /// Whether the dependent launch may start when the program says so.
    Bits preExit() {
        return new Bits(1151, 1151);
    }

    Bits callLimit() {
        return pick(378, 378, 568, 568);
    }

    Bits samplerIndex() {
        return pick(382, 382, 569, 569);
    }

    /// {@return blocks in x direction}
    public Bits gridX() {
        return pick(415, 384, 1055, 1024);
    }

    /// {@return blocks in y direction}
    public Bits gridY() {
        return pick(431, 416, 1071, 1056);
    }

    /// {@return blocks in z direction}
    public Bits gridZ() {
        return pick(463, 448, 1103, 1088);
    }

    /// {@return shared memory of a block, in bytes}
    public Bits sharedBytes() {
        return pick(561, 544, 601, 584);
    }

    /// {@return smallest shared memory configuration}
    public Bits minSharedConfig() {
        return pick(567, 562, 613, 608);
    }

    /// {@return largest shared memory configuration}
    public Bits maxSharedConfigBits() {
        return pick(574, 569, 619, 614);
    }

    /// {@return wanted shared memory configuration}
    public Bits targetSharedConfig() {
        return pick(662, 657, 625, 620);
    }

    /// {@return minor version}
    public Bits minorVersion() {
        return new Bits(579, 576);
    }

    /// {@return major version}
    public Bits majorVersion() {
        return new Bits(583, 580);
    }

    /// {@return threads in x direction}
    public Bits blockX() {
        return pick(607, 592, 1167, 1152);
    }

    /// {@return threads in y direction}
    public Bits blockY() {
        return pick(623, 608, 1183, 1168);
    }

    /// {@return threads in z direction}
    public Bits blockZ() {
        return pick(639, 624, 1199, 1184);
    }

    /// {@return registers of a thread}
    public Bits registers() {
        return pick(656, 648, 1208, 1200);
    }

    /// {@return barriers of a block}
    public Bits barriers() {
        return pick(767, 763, 1215, 1211);
    }

    /// {@return local memory of a thread, in bytes}
    public Bits localBytes() {
        return pick(1623, 1600, 567, 544);
    }

    /// {@return address of the code}
    public Bits program() {
        return pick(1584, 1536, 1272, 1216);
    }

    /// {@return architecture of the code}
    public Bits sass() {
        return pick(1663, 1656, 543, 536);
    }

    /// {@return whether a constant bank is used}
    ///
    /// @param bank 0 to 7
    public Bits constantValid(int bank) {
        return this == V3 ? new Bits(640 + bank, 640 + bank) : new Bits(416, 416).plus(4 * bank);
    }

    Bits constantInvalidate(int bank) {
        return this == V3 ? new Bits(1074, 1074).plus(64 * bank) : new Bits(419, 419).plus(4 * bank);
    }

    /// {@return address of a constant bank, divided by 2^[#constantAddressShift]}
    ///
    /// @param bank 0 to 7
    public Bits constantAddress(int bank) {
        return pick(1072, 1024, 1586, 1536).plus(64 * bank);
    }

    /// {@return how far addresses of constant banks are shifted}
    public int constantAddressShift() {
        return this == V3 ? 0 : 6;
    }

    /// {@return size of a constant bank, divided by 16}
    ///
    /// @param bank 0 to 7
    public Bits constantSize(int bank) {
        return pick(1087, 1075, 1599, 1587).plus(64 * bank);
    }

    /// {@return whether the first semaphore is written at the end}
    public Bits releaseEnable() {
        return pick(823, 823, 320, 320);
    }

    Bits releaseStructureSize() {
        return pick(831, 830, 322, 321);
    }

    Bits releasePayload64() {
        return pick(829, 829, 332, 332);
    }

    /// {@return address of the first semaphore}
    public Bits releaseAddress() {
        return pick(807, 768, 696, 640);
    }

    /// {@return value of the first semaphore}
    public Bits releasePayload() {
        return pick(895, 832, 767, 704);
    }
}
