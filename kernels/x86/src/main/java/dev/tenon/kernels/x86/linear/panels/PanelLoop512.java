package dev.tenon.kernels.x86.linear.panels;

import static dev.tenon.kernels.x86.asm.Operand.zmm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PanelShape;
import java.util.function.IntFunction;

/// A panel of 32 rows times 4 or 6 tokens with AVX-512 VNNI: up to 12 registers of integers, 12 of
/// floats.
///
/// Where another thread computes on the core's other hardware thread, a thread looks ahead over few
/// instructions only. So what is loaded lies a dword of levels in front of what needs it, and no instruction
/// waits for the one before it: levels are loaded one dword ahead (those of the next block, and at the
/// end of a panel 384 bytes of the scratch memory after it, which are not used), and all products
/// by `dx` come before all products by `scale`.
final class PanelLoop512 extends PanelLoop {
    private static final Vec[] SCALES = {zmm(30), zmm(31)};

    PanelLoop512(Assembler a, BlockCode format, int tokens, int n) {
        super(a, format, PanelShape.WIDE, tokens, n);
    }

    @Override
    void emitFirstLoads() {
        emitLevels(0, 0);
    }

    /// Loads a dword of levels to registers 24 and 25, every other one to 26 and 27.
    ///
    /// @param disp bytes from the block at hand
    private void emitLevels(int dword, int disp) {
        a.vmovdqu(zmm(24 + 2 * (dword & 1)), levels(dword, 0).plus(disp));
        a.vmovdqu(zmm(25 + 2 * (dword & 1)), levels(dword, 1).plus(disp));
    }

    @Override
    void emitDots() {
        emitStart();
        int dwords = shape.dwords(format);
        for (int k = 0; k < dwords; k++) {
            if (k + 1 < dwords) {
                emitLevels(k + 1, 0);
            } else {
                a.vmovdqu(SCALES[0], scale(0));
                a.vmovdqu(SCALES[1], scale(1));
                emitLevels(0, shape.blockBytes(format));
            }
            for (int t = 0; t < tokens; t++) {
                Operand x = q(t, 4 * k).bcst();
                if ((t & 1) == 1) {
                    x = zmm(28 + (t >> 1 & 1));
                    a.vpbroadcastd((Vec) x, q(t, 4 * k));
                }
                for (int h = 0; h < 2; h++) {
                    Vec w = zmm(24 + 2 * (k & 1) + h);
                    if (format.words) {
                        a.vpdpwssd(dot(t, h), w, x);
                    } else {
                        a.vpdpbusd(dot(t, h), w, x);
                    }
                }
            }
        }
    }

    /// What dot products begin with.
    private void emitStart() {
        for (int t = 0; t < tokens; t++) {
            if (format.words) {
                a.zero(dot(t, 0));
                a.zero(dot(t, 1));
                continue;
            }
            if (!format.mins) {
                a.vpbroadcastd(dot(t, 0), c(t));
            } else if (t == 0) {
                a.vmovdqu(dot(t, 0), a.constant(PackedActivations.BIAS));
            } else {
                a.vmovdqu(dot(t, 0), dot(0, 0));
            }
            a.vmovdqu(dot(t, 1), dot(t, 0));
        }
    }

    @Override
    void emitScaling() {
        for (int t = 0; t < tokens && !format.tiled; t++) {
            Vec dx = zmm(26 + t % 4);
            a.vbroadcastss(dx, dx(t));
            for (int h = 0; h < 2; h++) {
                if (format.words) {
                    a.vcvtdq2ps(dot(t, h), dot(t, h));
                    a.vmulps(dot(t, h), dot(t, h), dx);
                } else {
                    a.vfmadd213ps(dot(t, h), dx, u(t).bcst());
                }
            }
        }
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                a.vfmadd231ps(sum(t, h), dot(t, h), SCALES[h]);
            }
        }
        if (!format.mins) {
            return;
        }
        for (int t = 0; t < tokens; t++) {
            Vec c = zmm(26 + t % 4);
            a.vbroadcastss(c, c(t));
            for (int h = 0; h < 2; h++) {
                a.vfmadd231ps(sum(t, h), c, min(h));
            }
        }
    }

    @Override
    void emitTileSums(boolean first, IntFunction<Mem> scaleSums) {
        Vec bias = zmm(24);
        Vec zero = zmm(25);
        a.vmovdqu(SCALES[0], scaleSums.apply(0));
        a.vmovdqu(SCALES[1], scaleSums.apply(1));
        a.vmovdqu(bias, a.constant(-PackedActivations.BIAS));
        if (first) {
            a.zero(zero);
        }
        for (int t = 0; t < tokens; t++) {
            a.vbroadcastss(dot(t, 0), dx(t));
            for (int h = 0; h < 2; h++) {
                a.vfmadd231ps(sum(t, h), SCALES[h], bias);
            }
        }
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                a.vfmadd213ps(sum(t, h), dot(t, 0), first ? zero : memory(t, h));
            }
        }
    }
}
