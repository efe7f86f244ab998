package dev.tenon.kernels.x86.asm;

import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;

/// The vector instructions that the kernels use, by their mnemonics; destination first.
///
/// They are encoded with EVEX or VEX according to the assembler's feature set; where the two sets
/// name an instruction differently (`vpandd`, `vpand`) the method has the shorter name.
/// Instructions that exist in one form only refuse the other.
abstract class VectorInstructions extends Encoder {
    /// @param evex whether they are encoded with EVEX (AVX-512) rather than VEX (AVX2)
    VectorInstructions(boolean evex) {
        super(evex);
    }

    // --- moves
    // ------------------------------------------------------------------------------------------------------
    public void vzeroupper() {
        u8(0xC5);
        u8(0xF8);
        u8(0x77);
    }

    public void vmovdqu(Vec d, Operand s) {
        op(M0F | PF3 | 0x6F, FULL, d, null, s);
    }

    public void vmovdqu(Mem d, Vec s) {
        op(M0F | PF3 | 0x7F, FULL, s, null, d);
    }

    public void vmovss(Vec d, Mem s) {
        op(M0F | PF3 | 0x10, 4, d.x(), null, s);
    }

    public void vmovss(Mem d, Vec s) {
        op(M0F | PF3 | 0x11, 4, s.x(), null, d);
    }

    /// Stores a 32-bit lane of 128 bits.
    public void vextractps(Mem d, Vec s, int lane) {
        op(M3A | P66 | 0x17, 4, s.x(), null, d, lane);
    }

    public void vmovq(Vec d, Mem s) {
        op(M0F | PF3 | (evex ? W1 : 0) | 0x7E, 8, d.x(), null, s);
    }

    public void vmovq(Mem d, Vec s) {
        op(M0F | P66 | (evex ? W1 : 0) | 0xD6, 8, s.x(), null, d);
    }

    public void vpinsrw(Vec d, Vec a, Mem s, int lane) {
        op(M0F | P66 | 0xC4, 2, d.x(), a, s, lane);
    }

    public void vpinsrd(Vec d, Vec a, Mem s, int lane) {
        op(M3A | P66 | 0x22, 4, d.x(), a, s, lane);
    }

    public void vpinsrq(Vec d, Vec a, Mem s, int lane) {
        op(M3A | P66 | W1 | 0x22, 8, d.x(), a, s, lane);
    }

    public void vbroadcastss(Vec d, Operand s) {
        op(M38 | P66 | 0x18, 4, d, null, s);
    }

    public void vpbroadcastd(Vec d, Operand s) {
        op(M38 | P66 | 0x58, 4, d, null, s);
    }

    /// Repeats 16 bits of memory in all lanes of 16 bits.
    public void vpbroadcastw(Vec d, Mem s) {
        op(M38 | P66 | 0x79, 2, d, null, s);
    }

    /// Repeats 128 bits of memory in both parts of 256 bits.
    public void vbroadcasti128(Vec d, Mem s) {
        op(M38 | P66 | 0x5A, 16, d, null, s);
    }

    /// Repeats 128 bits of memory in all lanes of 512 bits.
    public void vbroadcasti32x4(Vec d, Mem s) {
        evexOnly(M38 | P66 | 0x5A, 16, d, null, s, -1);
    }

    /// Repeats 256 bits of memory in both parts of 512 bits.
    public void vbroadcasti64x4(Vec d, Mem s) {
        evexOnly(M38 | P66 | W1 | 0x5B, 32, d, null, s, -1);
    }

    /// Puts 128 bits into a 128-bit lane of 256 or 512.
    public void vinserti128(Vec d, Vec a, Operand s, int lane) {
        op(M3A | P66 | 0x38, 16, d, a, s, lane);
    }

    public void vinserti64x4(Vec d, Vec a, Operand s, int part) {
        evexOnly(M3A | P66 | W1 | 0x3A, 32, d, a, s, part);
    }

    public void vextracti64x4(Vec d, Vec s, int part) {
        evexOnly(M3A | P66 | W1 | 0x3B, 32, s, null, d, part);
    }

    /// Takes a 128-bit lane out of 256 bits (512 with EVEX).
    public void vextracti128(Operand d, Vec s, int lane) {
        op(M3A | P66 | 0x39, 16, s, null, d, lane);
    }

    // --- shuffles
    // ---------------------------------------------------------------------------------------------------
    public void vpermd(Vec d, Vec index, Operand s) {
        op(M38 | P66 | 0x36, FULL, d, index, s);
    }

    /// Takes bytes of 512 bits by their indices.
    public void vpermb(Vec d, Vec index, Operand s) {
        evexOnly(M38 | P66 | 0x8D, FULL, d, index, s, -1);
    }

    /// Takes eight bits from each place of a 64-bit number that the bytes of `places` name, around its end.
    public void vpmultishiftqb(Vec d, Vec places, Operand s) {
        evexOnly(M38 | P66 | W1 | 0x83, FULL, d, places, s, -1);
    }

    public void vpermps(Vec d, Vec index, Operand s) {
        op(M38 | P66 | 0x16, FULL, d, index, s);
    }

    /// Chooses two of the four 128-bit lanes of `a` and `b`.
    public void vperm2i128(Vec d, Vec a, Operand b, int imm) {
        vex(M3A | P66 | 0x46, d.bits(), d.number(), a.number(), b, imm);
    }

    /// Rearranges 128-bit lanes of 512 bits.
    public void vshufi64x2(Vec d, Vec a, Operand b, int imm) {
        evexOnly(M3A | P66 | W1 | 0x43, FULL, d, a, b, imm);
    }

    /// Takes eight 64-bit numbers from `a` and `b` by their indices, which are in `d` before.
    public void vpermi2q(Vec d, Vec a, Operand b) {
        evexOnly(M38 | P66 | W1 | 0x76, FULL, d, a, b, -1);
    }

    /// Takes 32-bit numbers from `a` and `b` by their indices, which are in `d` before.
    public void vpermi2d(Vec d, Vec a, Operand b) {
        evexOnly(M38 | P66 | 0x76, FULL, d, a, b, -1);
    }

    /// Rearranges the bytes of each 128-bit lane; a negative index makes a 0.
    public void vpshufb(Vec d, Vec a, Operand index) {
        op(M38 | P66 | 0x00, FULL, d, a, index);
    }

    /// Takes two 32-bit numbers of `a` and two of `b` in each 128-bit lane.
    public void vshufps(Vec d, Vec a, Operand b, int imm) {
        op(M0F | 0xC6, FULL, d, a, b, imm);
    }

    public void vpshufd(Vec d, Operand s, int imm) {
        op(M0F | P66 | 0x70, FULL, d, null, s, imm);
    }

    public void vpunpckldq(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0x62, FULL, d, a, b);
    }

    public void vpunpckhdq(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0x6A, FULL, d, a, b);
    }

    public void vpunpcklqdq(Vec d, Vec a, Operand b) {
        op(M0F | P66 | (evex ? W1 : 0) | 0x6C, FULL, d, a, b);
    }

    public void vpunpckhqdq(Vec d, Vec a, Operand b) {
        op(M0F | P66 | (evex ? W1 : 0) | 0x6D, FULL, d, a, b);
    }

    // --- integers
    // ---------------------------------------------------------------------------------------------------
    public void vpand(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0xDB, FULL, d, a, b);
    }

    /// d = ~a & b
    public void vpandn(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0xDF, FULL, d, a, b);
    }

    public void vpor(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0xEB, FULL, d, a, b);
    }

    public void vpxor(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0xEF, FULL, d, a, b);
    }

    public void zero(Vec d) {
        if (d.number() < 16) {
            vex(M0F | P66 | 0xEF, 128, d.number(), d.number(), d.x(), -1);
        } else {
            vpxor(d.x(), d.x(), d.x());
        }
    }

    /// Any function of three bits, `imm` being its truth table; 0xF8 is `d | a & b`.
    public void vpternlogd(Vec d, Vec a, Operand b, int imm) {
        evexOnly(M3A | P66 | 0x25, FULL, d, a, b, imm);
    }

    public void vpaddb(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0xFC, FULL, d, a, b);
    }

    public void vpsubb(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0xF8, FULL, d, a, b);
    }

    /// All bits of the bytes that are equal; none of the others.
    public void vpcmpeqb(Vec d, Vec a, Operand b) {
        vexOnly(M0F | P66 | 0x74, d, a, b, -1);
    }

    public void vpaddw(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0xFD, FULL, d, a, b);
    }

    /// The lower 16 bits of the products of words.
    public void vpmullw(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0xD5, FULL, d, a, b);
    }

    /// The upper halves of products of words without a sign.
    public void vpmulhuw(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0xE4, FULL, d, a, b);
    }

    public void vpaddd(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0xFE, FULL, d, a, b);
    }

    /// All bits of the lanes where `a` is greater than `b`, signed integers; none of the others.
    public void vpcmpgtd(Vec d, Vec a, Operand b) {
        vexOnly(M0F | P66 | 0x66, d, a, b, -1);
    }

    public void vpmaxud(Vec d, Vec a, Operand b) {
        op(M38 | P66 | 0x3F, FULL, d, a, b);
    }

    public void vpminub(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0xDA, FULL, d, a, b);
    }

    public void vpsrld(Vec d, Operand s, int bits) {
        op(M0F | P66 | 0x72, FULL, new Vec(2, d.bits()), d, s, bits);
    }

    public void vpsrad(Vec d, Vec s, int bits) {
        op(M0F | P66 | 0x72, FULL, new Vec(4, d.bits()), d, s, bits);
    }

    public void vpslld(Vec d, Vec s, int bits) {
        op(M0F | P66 | 0x72, FULL, new Vec(6, d.bits()), d, s, bits);
    }

    public void vpsraw(Vec d, Vec s, int bits) {
        op(M0F | P66 | 0x71, FULL, new Vec(4, d.bits()), d, s, bits);
    }

    public void vpsrlw(Vec d, Vec s, int bits) {
        op(M0F | P66 | 0x71, FULL, new Vec(2, d.bits()), d, s, bits);
    }

    public void vpsllw(Vec d, Vec s, int bits) {
        op(M0F | P66 | 0x71, FULL, new Vec(6, d.bits()), d, s, bits);
    }

    /// Counts the bits of each dword; with AVX-512 VPOPCNTDQ.
    public void vpopcntd(Vec d, Vec s) {
        evexOnly(M38 | P66 | 0x55, FULL, d, null, s, -1);
    }

    /// Takes the lower 16 bits of each 32-bit lane of 512 bits.
    public void vpmovdw(Vec d, Vec s) {
        evexOnly(M38 | PF3 | 0x33, HALF, s, null, d, -1);
    }

    public void vpsrlvd(Vec d, Vec a, Operand bits) {
        op(M38 | P66 | 0x45, FULL, d, a, bits);
    }

    public void vpsllvd(Vec d, Vec a, Operand bits) {
        op(M38 | P66 | 0x47, FULL, d, a, bits);
    }

    public void vprorvd(Vec d, Vec a, Operand bits) {
        evexOnly(M38 | P66 | 0x14, FULL, d, a, bits, -1);
    }

    /// Sums of two products of unsigned bytes of `a` and signed bytes of `b`, saturated to 16 bits.
    public void vpmaddubsw(Vec d, Vec a, Operand b) {
        op(M38 | P66 | 0x04, FULL, d, a, b);
    }

    /// Sums of two products of signed 16-bit numbers, in 32 bits.
    public void vpmaddwd(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0xF5, FULL, d, a, b);
    }

    /// Adds to each 32-bit lane of `d` the four products of unsigned bytes of `a` and signed bytes
    /// of `b`.
    public void vpdpbusd(Vec d, Vec a, Operand b) {
        op(M38 | P66 | 0x50, FULL, d, a, b);
    }

    /// Adds to each 32-bit lane of `d` the two products of signed 16-bit numbers of `a` and `b`.
    public void vpdpwssd(Vec d, Vec a, Operand b) {
        op(M38 | P66 | 0x52, FULL, d, a, b);
    }

    public void vpmovsxbw(Vec d, Operand s) {
        op(M38 | P66 | 0x20, HALF, d, null, s);
    }

    public void vpmovsxbd(Vec d, Operand s) {
        op(M38 | P66 | 0x21, QUARTER, d, null, s);
    }

    public void vpmovzxbd(Vec d, Operand s) {
        op(M38 | P66 | 0x31, QUARTER, d, null, s);
    }

    public void vpmovzxwd(Vec d, Operand s) {
        op(M38 | P66 | 0x33, HALF, d, null, s);
    }

    public void vpmovzxdq(Vec d, Operand s) {
        op(M38 | P66 | 0x35, HALF, d, null, s);
    }

    public void vpackssdw(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0x6B, FULL, d, a, b);
    }

    public void vpacksswb(Vec d, Vec a, Operand b) {
        op(M0F | P66 | 0x63, FULL, d, a, b);
    }

    // --- floats
    // -----------------------------------------------------------------------------------------------------
    public void vcvtdq2ps(Vec d, Operand s) {
        op(M0F | 0x5B, FULL, d, null, s);
    }

    /// Rounds to the nearest integer, ties to even; what does not fit becomes -2³¹.
    public void vcvtps2dq(Vec d, Operand s) {
        op(M0F | P66 | 0x5B, FULL, d, null, s);
    }

    public void vcvtph2ps(Vec d, Operand s) {
        op(M38 | P66 | 0x13, HALF, d, null, s);
    }

    public void vaddps(Vec d, Vec a, Operand b) {
        op(M0F | 0x58, FULL, d, a, b);
    }

    public void vsubps(Vec d, Vec a, Operand b) {
        op(M0F | 0x5C, FULL, d, a, b);
    }

    /// The greater numbers; where one is not a number, or both are zeros, that of `b`.
    public void vmaxps(Vec d, Vec a, Operand b) {
        op(M0F | 0x5F, FULL, d, a, b);
    }

    public void vmulps(Vec d, Vec a, Operand b) {
        op(M0F | 0x59, FULL, d, a, b);
    }

    public void vmulss(Vec d, Vec a, Operand b) {
        op(M0F | PF3 | 0x59, 4, d.x(), a, b);
    }

    public void vdivps(Vec d, Vec a, Operand b) {
        op(M0F | 0x5E, FULL, d, a, b);
    }

    /// All bits of the lanes where `a` is less than `b`, none of the others.
    public void vcmpltps(Vec d, Vec a, Operand b) {
        vexOnly(M0F | 0xC2, d, a, b, 1);
    }

    /// Takes lanes from `b` where the top bit of `mask` is set, else from `a`.
    public void vblendvps(Vec d, Vec a, Operand b, Vec mask) {
        vexOnly(M3A | P66 | 0x4A, d, a, b, mask.number() << 4);
    }

    /// `d = d * a + b`.
    public void vfmadd213ps(Vec d, Vec a, Operand b) {
        op(M38 | P66 | 0xA8, FULL, d, a, b);
    }

    /// `d = a * b + d`.
    public void vfmadd231ps(Vec d, Vec a, Operand b) {
        op(M38 | P66 | 0xB8, FULL, d, a, b);
    }

    /// `d = a * b + d` in lane 0.
    public void vfmadd231ss(Vec d, Vec a, Operand b) {
        op(M38 | P66 | 0xB9, 4, d.x(), a, b);
    }

    // --- float64 in lane 0: encoded with VEX in either form, registers 0 to 15
    // -------------------------------------------------------------------------------------------------------
    public void vcvtss2sd(Vec d, Vec a, Vec s) {
        vex(M0F | PF3 | 0x5A, 128, d.number(), a.number(), s, -1);
    }

    public void vcvtsd2ss(Vec d, Vec a, Vec s) {
        vex(M0F | PF2 | 0x5A, 128, d.number(), a.number(), s, -1);
    }

    public void vaddsd(Vec d, Vec a, Operand b) {
        vex(M0F | PF2 | 0x58, 128, d.number(), a.number(), b, -1);
    }

    public void vdivsd(Vec d, Vec a, Operand b) {
        vex(M0F | PF2 | 0x5E, 128, d.number(), a.number(), b, -1);
    }

    public void vsqrtsd(Vec d, Vec a, Operand b) {
        vex(M0F | PF2 | 0x51, 128, d.number(), a.number(), b, -1);
    }

    // --- sequences
    // --------------------------------------------------------------------------------------------------
    /// Adds up all lanes of `v` into its lane 0, as [#foldLanes] does.
    ///
    /// @param v 256 or 512 bits; clobbered
    /// @param t clobbered
    public void sumLanes(Vec v, Vec t) {
        foldLanes(v, t, this::vaddps);
    }

    /// An instruction of two operands.
    @FunctionalInterface
    public interface Binary {
        void emit(Vec d, Vec a, Operand b);
    }

    /// Folds all lanes of `v` into its lane 0: the upper part into the lower one, then the same in what is left.
    ///
    /// @param v 256 or 512 bits; clobbered
    /// @param t clobbered
    /// @param by computes one number of two
    public void foldLanes(Vec v, Vec t, Binary by) {
        if (v.bits() == 512) {
            vextracti64x4(t.y(), v, 1);
            by.emit(v.y(), v.y(), t.y());
        }
        vextracti128(t.x(), v.y(), 1);
        by.emit(v.x(), v.x(), t.x());
        vpshufd(t.x(), v.x(), 0x4E);
        by.emit(v.x(), v.x(), t.x());
        vpshufd(t.x(), v.x(), 0xB1);
        by.emit(v.x(), v.x(), t.x());
    }

    private void op(int opcode, int tuple, Vec reg, Vec v, Operand rm) {
        op(opcode, tuple, reg, v, rm, -1);
    }

    private void op(int opcode, int tuple, Vec reg, Vec v, Operand rm, int imm) {
        vector(opcode, tuple, reg.bits(), reg.number(), v == null ? 0 : v.number(), rm, imm);
    }

    private void vexOnly(int opcode, Vec d, Vec a, Operand b, int imm) {
        if (evex) {
            throw new IllegalStateException("This instruction exists for AVX2 only.");
        }
        op(opcode, FULL, d, a, b, imm);
    }

    private void evexOnly(int opcode, int tuple, Vec reg, Vec v, Operand rm, int imm) {
        if (!evex) {
            throw new IllegalStateException("This instruction needs AVX-512.");
        }
        op(opcode, tuple, reg, v, rm, imm);
    }
}
