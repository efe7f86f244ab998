package dev.tenon.kernels.x86.asm;

import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;

/// The instructions of AVX-512 with masks, registers k1 to k7, one bit a lane.
abstract class MaskInstructions extends VectorInstructions {
    /// @param evex whether there is AVX-512
    MaskInstructions(boolean evex) {
        super(evex);
    }

    /// Sets the bits of the lanes where `a` is not less than `b`, or one of them is not a number.
    public void vcmpnltps(int k, Vec a, Operand b) {
        masked(M0F | 0xC2, k, a, b, 5, 0);
    }

    /// Sets the bits of the lanes where `a` is less than `b`.
    public void vcmpltps(int k, Vec a, Operand b) {
        masked(M0F | 0xC2, k, a, b, 1, 0);
    }

    /// Sets the bits of the lanes where `a` is less than `b`, signed integers.
    public void vpcmpltd(int k, Vec a, Operand b) {
        masked(M3A | P66 | 0x1F, k, a, b, 1, 0);
    }

    /// Clears the bits of the lanes where `a` is less than `b`, signed integers.
    public void vpcmpnltd(int k, Vec a, Operand b) {
        masked(M3A | P66 | 0x1F, k, a, b, 5, k);
    }

    /// Takes lanes from `b` where bits are set, else from `a`.
    public void vblendmps(Vec d, int k, Vec a, Operand b) {
        masked(M38 | P66 | 0x65, d.number(), a, b, -1, k);
    }

    /// Adds where bits are set; the other lanes become 0.
    public void vpaddd(Vec d, int k, Vec a, Operand b) {
        masked(M0F | P66 | 0xFE, d.number(), a, b, -1, ZEROING | k);
    }

    /// Sets the bits of the bytes where `a` and `b` have a bit in common.
    public void vptestmb(int k, Vec a, Operand b) {
        masked(M38 | P66 | 0x26, k, a, b, -1, 0);
    }

    /// Subtracts bytes where bits are set; the others stay as they are.
    public void vpsubb(Vec d, int k, Vec a, Operand b) {
        masked(M0F | P66 | 0xF8, d.number(), a, b, -1, k);
    }

    /// Loads 64 bits.
    public void kmovq(int k, Mem s) {
        vex(M0F | W1 | 0x90, 128, k, 0, s, -1);
    }

    /// Sets the bits that `a` and `b` have alike: all of them with the same register twice.
    public void kxnorw(int k, int a, int b) {
        vex(M0F | 0x46, 256, k, a, new Vec(b, 128), -1);
    }

    /// Loads the dwords that indices point to, where bits are set, and clears these.
    ///
    /// @param d not the register of the indices
    /// @param s memory with a vector of dwords as its index
    public void vpgatherdd(Vec d, int k, Mem s) {
        gather(M38 | P66 | 0x90, Integer.BYTES, d, k, s);
    }

    /// Loads the qwords that indices point to, where bits are set, and clears these.
    ///
    /// @param d not the register of the indices
    /// @param s memory with a vector of dwords as its index, half as wide as `d`
    public void vpgatherdq(Vec d, int k, Mem s) {
        gather(M38 | P66 | W1 | 0x90, Long.BYTES, d, k, s);
    }

    private void gather(int opcode, int bytes, Vec d, int k, Mem s) {
        if (!evex || !(s.index() instanceof Vec index) || index.number() == d.number()) {
            throw new IllegalArgumentException("Nothing can be gathered from " + s + " into " + d + ".");
        }
        evex(opcode, bytes, d.bits(), d.number(), index.number() & 16, s, -1, k);
    }

    private void masked(int opcode, int reg, Vec a, Operand b, int imm, int mask) {
        if (!evex) {
            throw new IllegalStateException("This instruction needs AVX-512.");
        }
        evex(opcode, FULL, a.bits(), reg, a.number(), b, imm, mask);
    }
}
