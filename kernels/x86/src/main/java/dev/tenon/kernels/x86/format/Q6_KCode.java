package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.ymm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.Columns;
import dev.tenon.kernels.x86.block.PairMicroKernel;
import dev.tenon.kernels.x86.block.QuadMicroKernel;
import dev.tenon.kernels.x86.block.StreamMicroKernel;

/// Q6_K: 256 six-bit levels, sixteen groups of 16 with a signed 8-bit scale each.
///
/// ```
/// byte 0              128           192                208     210
///      | ql: uint8[128] | qh: uint8[64] | scales: int8[16] | d:f16 |
///
/// value[i] = d * scales[i / 16] * (q[i] - 32)
/// for part h of 128, pair s in 0..1 and l in 0..63:
///   q[128h + 64s + l] = (ql[64h + l] >> 4s & 15) | (qh[32h + l % 32] >> (4s + 2(l / 32)) & 3) << 4
/// ```
public final class Q6_KCode extends BlockCode {
    static final int QH = 128;
    static final int SCALES = 192;
    static final int D = 208;
    /// What brings a scale's byte to the top of 32 bits is taken out of d again; both are exact.
    static final float TOP = 0x1p-24f;

    private static final Vec NIBBLE = constantZ(0);
    private static final Vec HIGH = constantZ(1);
    private static final Vec SHIFT = constantZ(2);

    /// {@return the group in lane i of the sums of pairs, quads and streams of rows}
    static int group(int i) {
        return i / 4 + new int[] {0, 8, 4, 12}[i % 4];
    }

    public Q6_KCode() {
        super("Q6_K", 210, 0, 16, 63, false, 32, true);
    }

    @Override
    public void constants512(Assembler a) {
        loadZ(a, 0, i -> 0x0F0F0F0F);
        loadZ(a, 1, i -> 0x30303030);
        loadZ(a, 2, i -> i < 8 ? 0 : 2);
    }

    @Override
    public void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u) {
        f16ToAll(a, mem(w, D), t);
        a.vpmovsxbd(scales, mem(w, SCALES));
        a.vcvtdq2ps(scales, scales);
        a.vmulps(scales, scales, t);
    }

    @Override
    public void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t) {
        int part = chunk >> 1;
        a.vbroadcasti64x4(t, mem(w, QH + 32 * part));
        a.vpsrlvd(t, t, SHIFT);
        if ((chunk & 1) == 0) {
            a.vpand(levels, NIBBLE, mem(w, 64 * part));
            a.vpslld(t, t, 4);
        } else {
            a.vmovdqu(levels, mem(w, 64 * part));
            a.vpsrld(levels, levels, 4);
            a.vpand(levels, levels, NIBBLE);
        }
        a.vpternlogd(levels, t, HIGH, 0xF8);
    }

    @Override
    public StreamMicroKernel streams512() {
        return new Q6_KStreams();
    }

    @Override
    public PairMicroKernel pairs512() {
        return new Q6_KPairs();
    }

    @Override
    public QuadMicroKernel quads512() {
        return new Q6_KQuads();
    }

    @Override
    public boolean hasColumns() {
        return true;
    }

    @Override
    public void columns(Assembler a, Columns span) {
        Operand nibble = span.constant(NIBBLE, 0x0F0F0F0F);
        Operand high = span.constant(HIGH, 0x30303030);
        Vec t = span.vec(8);
        Vec u = span.vec(9);
        for (int part = 0; part < 4; part++) {
            // qh: registers 10 to 13, the dwords of 16 bytes; they go with two times 16 bytes of ql
            span.load(QH + 16 * part);
            for (int i = 0; i < 4; i++) {
                a.vmovdqu(span.vec(10 + i), span.vec(i));
            }
            for (int pair = 0; pair < 2; pair++) {
                int ql = 64 * (part / 2) + 16 * (part & 1) + 32 * pair;
                int weight = 128 * (part / 2) + 16 * (part & 1) + 32 * pair;
                span.load(ql);
                for (int i = 0; i < 4; i++) {
                    Vec low = span.vec(i);
                    Vec qh = span.vec(10 + i);
                    a.vpand(t, low, nibble);
                    a.vpslld(u, qh, 4 - 2 * pair);
                    span.or(t, u, high, u);
                    span.levels(weight + 4 * i, t);
                    a.vpsrld(t, low, 4);
                    a.vpand(t, t, nibble);
                    if (pair == 1) {
                        a.vpsrld(u, qh, 2);
                    }
                    span.or(t, pair == 0 ? qh : u, high, u);
                    span.levels(weight + 64 + 4 * i, t);
                }
            }
        }
        Vec d = span.vec(10);
        span.f16(D, d, t);
        span.load(SCALES);
        for (int group = 0; group < 16; group++) {
            a.vpslld(t, span.vec(group / 4), 24 - 8 * (group % 4));
            a.vpsrad(t, t, 24);
            a.vcvtdq2ps(t, t);
            a.vmulps(t, t, d);
            span.scale(group, t);
        }
    }

    @Override
    public void scales256(Assembler a, Gpr w, Mem scales, Mem mins) {
        Vec d = ymm(8);
        Vec s = ymm(9);
        f16ToAll(a, mem(w, D), d);
        for (int part = 0; part < 2; part++) {
            a.vpmovsxbd(s, mem(w, SCALES + 8 * part));
            a.vcvtdq2ps(s, s);
            a.vmulps(s, s, d);
            a.vmovdqu(scales.plus(32 * part), s);
        }
    }

    @Override
    public void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        int part = unit >> 2;
        int quarter = unit & 3;
        a.vmovdqu(levels, mem(w, 64 * part + 32 * (quarter & 1)));
        moveBits(a, levels, quarter < 2 ? 0 : 4, 0);
        a.vpand(levels, levels, a.dwords(0x0F0F0F0F));
        a.vmovdqu(t, mem(w, QH + 32 * part));
        moveBits(a, t, 2 * quarter, 4);
        a.vpand(t, t, a.dwords(0x30303030));
        a.vpor(levels, levels, t);
    }
}
