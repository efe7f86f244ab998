package dev.tenon.kernels.x86.cpu;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.call.CodeMemory;
import dev.tenon.kernels.x86.call.NativeCall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.Set;

/// What this processor and operating system can run, from CPUID and XGETBV.
///
/// @param name the processor's name for people
/// @param sets the feature sets whose instructions and registers are usable; unmodifiable use only
/// @param firstLevelBytes size of the first-level data cache; 0 if not known
public record CpuFeatures(String name, Set<FeatureSet> sets, int firstLevelBytes) {
    private static final int XCR0_AVX = 0x6;
    private static final int XCR0_AVX512 = 0xE6;
    /// Most caches that leaf 4 is asked about.
    private static final int CACHES = 8;
    /// Type of a data cache in leaf 4.
    private static final int DATA = 1;

    /// What was found last; the processor stays the same.
    private static volatile CpuFeatures found;

    /// {@return what the processor has; it is asked at the first call}
    ///
    /// @throws dev.tenon.api.error.BackendException if no code can be generated here
    public static CpuFeatures known() {
        CpuFeatures known = found;
        return known != null ? known : detect();
    }

    /// Asks the processor, through a few bytes of generated code. In a virtual machine each
    /// question goes to the host.
    ///
    /// @return its features
    /// @throws dev.tenon.api.error.BackendException if no code can be generated here
    public static CpuFeatures detect() {
        Assembler a = new Assembler(false);
        a.push(Gpr.RBX);
        a.mov(Gpr.RAX, Gpr.RCX);
        a.mov(Gpr.RCX, Gpr.R8);
        a.cpuid();
        a.mov32(Operand.mem(Gpr.RDI), Gpr.RAX);
        a.mov32(Operand.mem(Gpr.RDI, 4), Gpr.RBX);
        a.mov32(Operand.mem(Gpr.RDI, 8), Gpr.RCX);
        a.mov32(Operand.mem(Gpr.RDI, 12), Gpr.RDX);
        a.pop(Gpr.RBX);
        a.ret();
        int xgetbv = a.size();
        a.mov(Gpr.RCX, 0);
        a.xgetbv();
        a.mov32(Operand.mem(Gpr.RDI), Gpr.RAX);
        a.ret();
        try (CodeMemory code = new CodeMemory("cpuid", a.assemble());
                Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(16, 16);
            Cpuid cpuid = (leaf, subleaf) -> {
                call(code.entry(0), result, leaf, subleaf);
                return result.toArray(ValueLayout.JAVA_INT);
            };
            int highest = cpuid.of(0, 0)[0];
            int[] one = cpuid.of(1, 0);
            int[] none = new int[4];
            int[] seven = highest >= 7 ? cpuid.of(7, 0) : none;
            int[] sevenOne = highest >= 7 && seven[0] >= 1 ? cpuid.of(7, 1) : none;
            int xcr0 = 0;
            if (bit(one[2], 27)) {
                call(code.entry(xgetbv), result, 0, 0);
                xcr0 = result.get(ValueLayout.JAVA_INT, 0);
            }
            found = of(name(cpuid), one, seven, sevenOne, xcr0, highest >= 4 ? firstLevelBytes(cpuid) : 0);
            return found;
        }
    }

    private interface Cpuid {
        int[] of(int leaf, int subleaf);
    }

    private static void call(MemorySegment function, MemorySegment result, int leaf, int subleaf) {
        NativeCall.plain(function, result, result, result, leaf, subleaf, 0, 0, 0, 0, 0, 0);
    }

    /// Reads the feature bits.
    ///
    /// @param name processor name
    /// @param one EAX, EBX, ECX, EDX of leaf 1
    /// @param seven of leaf 7
    /// @param sevenOne of leaf 7, subleaf 1
    /// @param xcr0 which registers the operating system saves
    /// @param firstLevelBytes size of the first-level data cache; 0 if not known
    /// @return the features
    public static CpuFeatures of(String name, int[] one, int[] seven, int[] sevenOne, int xcr0, int firstLevelBytes) {
        Set<FeatureSet> sets = EnumSet.noneOf(FeatureSet.class);
        boolean avx2 = (xcr0 & XCR0_AVX) == XCR0_AVX
                && bit(one[2], 12) // FMA
                && bit(one[2], 28) // AVX
                && bit(one[2], 29) // F16C
                && bit(seven[1], 5); // AVX2
        if (avx2) {
            sets.add(FeatureSet.AVX2);
            if (bit(sevenOne[0], 4)) {
                sets.add(FeatureSet.AVX_VNNI);
            }
            if ((xcr0 & XCR0_AVX512) == XCR0_AVX512
                    && bit(seven[1], 16) // F
                    && bit(seven[1], 17) // DQ
                    && bit(seven[1], 30) // BW
                    && bit(seven[1], 31) // VL
                    && bit(seven[2], 11)) { // VNNI
                sets.add(FeatureSet.AVX512);
                if (bit(seven[2], 1) // VBMI
                        && bit(seven[2], 14)) { // VPOPCNTDQ
                    sets.add(FeatureSet.AVX512_VBMI);
                }
            }
        }
        return new CpuFeatures(name, sets, firstLevelBytes);
    }

    private static int firstLevelBytes(Cpuid cpuid) {
        for (int i = 0; i < CACHES; i++) {
            int[] cache = cpuid.of(4, i);
            int type = cache[0] & 0x1F;
            if (type == 0) {
                return 0;
            }
            int level = cache[0] >> 5 & 7;
            if (level == 1 && type == DATA) {
                return cacheBytes(cache);
            }
        }
        return 0;
    }

    /// {@return the bytes of a cache: ways, partitions, bytes of a line, sets}
    ///
    /// @param cache EAX, EBX, ECX, EDX of leaf 4
    static int cacheBytes(int[] cache) {
        int ways = (cache[1] >>> 22) + 1;
        int partitions = (cache[1] >>> 12 & 0x3FF) + 1;
        int line = (cache[1] & 0xFFF) + 1;
        return ways * partitions * line * (cache[2] + 1);
    }

    private static boolean bit(int word, int bit) {
        return (word >> bit & 1) != 0;
    }

    private static String name(Cpuid cpuid) {
        if (Integer.compareUnsigned(cpuid.of(0x80000000, 0)[0], 0x80000004) < 0) {
            return "x86-64 processor";
        }
        byte[] bytes = new byte[48];
        for (int i = 0; i < 12; i++) {
            int word = cpuid.of(0x80000002 + i / 4, 0)[i % 4];
            for (int b = 0; b < 4; b++) {
                bytes[4 * i + b] = (byte) (word >> 8 * b);
            }
        }
        return new String(bytes, StandardCharsets.US_ASCII).replace('\0', ' ').strip();
    }
}
