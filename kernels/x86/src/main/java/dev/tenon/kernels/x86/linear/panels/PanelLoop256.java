package dev.tenon.kernels.x86.linear.panels;

import static dev.tenon.kernels.x86.asm.Operand.ymm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PanelShape;
import java.util.function.IntFunction;

/// A panel of 16 rows times 2 or 3 tokens with AVX2, or AVX-VNNI: up to six registers of integers,
/// six of floats, four for weights and activations.
///
/// With AVX-VNNI four products of bytes are one `vpdpbusd`. With AVX2 they are `vpmaddubsw`, whose
/// sums of two products are gathered in 16 bits for as many dwords as the format's levels leave
/// room, and one `vpmaddwd` then: eight dwords of levels up to 15, two of levels up to 63. Where two
/// products may not fit, one is taken at a time. Words are `vpdpwssd`, or `vpmaddwd` and an addition.
final class PanelLoop256 extends PanelLoop {
    private static final Vec W0 = ymm(12);
    private static final Vec W1 = ymm(13);
    private static final Vec X = ymm(14);
    private static final Vec T = ymm(15);
    /// Greatest magnitude of an activation.
    private static final int MOST_ACTIVATION = 127;

    private final boolean vnni;

    PanelLoop256(Assembler a, BlockCode format, int tokens, int n, boolean vnni) {
        super(a, format, PanelShape.NARROW, tokens, n);
        this.vnni = vnni;
    }

    @Override
    void emitDots() {
        if (vnni) {
            emitDotsVnni();
        } else if (!format.words && fitting() < 2) {
            emitDotsOfGreatLevels();
        } else {
            emitDotsAvx2();
        }
    }

    private void emitDotsVnni() {
        emitStart();
        for (int k = 0; k < shape.dwords(format); k++) {
            a.vmovdqu(W0, levels(k, 0));
            a.vmovdqu(W1, levels(k, 1));
            for (int t = 0; t < tokens; t++) {
                a.vpbroadcastd(X, q(t, 4 * k));
                if (format.words) {
                    a.vpdpwssd(dot(t, 0), W0, X);
                    a.vpdpwssd(dot(t, 1), W1, X);
                } else {
                    a.vpdpbusd(dot(t, 0), W0, X);
                    a.vpdpbusd(dot(t, 1), W1, X);
                }
            }
        }
    }

    /// What dot products begin with.
    private void emitStart() {
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                if (format.words) {
                    a.zero(dot(t, h));
                } else if (format.mins) {
                    a.vmovdqu(dot(t, h), bias());
                } else {
                    a.vpbroadcastd(dot(t, h), c(t));
                }
            }
        }
    }

    /// {@return how many products of two levels each can be added in a word}
    private int fitting() {
        return Short.MAX_VALUE / (2 * MOST_ACTIVATION * format.most);
    }

    private void emitDotsOfGreatLevels() {
        emitStart();
        for (int k = 0; k < shape.dwords(format); k++) {
            for (int h = 0; h < 2; h++) {
                a.vmovdqu(W1, levels(k, h));
                if (fitting() == 1) {
                    for (int t = 0; t < tokens; t++) {
                        a.vpbroadcastd(X, q(t, 4 * k));
                        a.vpmaddubsw(X, W1, X);
                        a.vpmaddwd(X, X, ones());
                        a.vpaddd(dot(t, h), dot(t, h), X);
                    }
                    continue;
                }
                a.vpand(W0, W1, a.dwords(0x00FF00FF));
                a.vpand(W1, W1, a.dwords(0xFF00FF00));
                for (int t = 0; t < tokens; t++) {
                    a.vpbroadcastd(X, q(t, 4 * k));
                    a.vpmaddubsw(T, W0, X);
                    a.vpmaddubsw(X, W1, X);
                    a.vpmaddwd(T, T, ones());
                    a.vpmaddwd(X, X, ones());
                    a.vpaddd(dot(t, h), dot(t, h), T);
                    a.vpaddd(dot(t, h), dot(t, h), X);
                }
            }
        }
    }

    private void emitDotsAvx2() {
        int dwords = shape.dwords(format);
        // As many as fit into words; an even number, because the others are taken two at a time.
        int first = Math.min(dwords, format.words ? dwords : fitting() & ~1);
        for (int k = 0; k < first; k++) {
            a.vmovdqu(W0, levels(k, 0));
            a.vmovdqu(W1, levels(k, 1));
            for (int t = 0; t < tokens; t++) {
                a.vpbroadcastd(X, q(t, 4 * k));
                if (k == 0) {
                    emitProduct(dot(t, 0), W0);
                    emitProduct(dot(t, 1), W1);
                } else {
                    emitProduct(T, W0);
                    emitSum(dot(t, 0), T);
                    emitProduct(X, W1);
                    emitSum(dot(t, 1), X);
                }
            }
        }
        if (format.words) {
            return;
        }
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                a.vpmaddwd(dot(t, h), dot(t, h), ones());
            }
        }
        // The other dwords, two at a time, for one one part of the rows after the other.
        for (int k = first; k < dwords; k += 2) {
            for (int h = 0; h < 2; h++) {
                a.vmovdqu(W0, levels(k, h));
                a.vmovdqu(W1, levels(k + 1, h));
                for (int t = 0; t < tokens; t++) {
                    a.vpbroadcastd(X, q(t, 4 * k));
                    emitProduct(T, W0);
                    a.vpbroadcastd(X, q(t, 4 * k + 4));
                    emitProduct(X, W1);
                    a.vpaddw(T, T, X);
                    a.vpmaddwd(T, T, ones());
                    a.vpaddd(dot(t, h), dot(t, h), T);
                }
            }
        }
        for (int t = 0; t < tokens; t++) {
            if (!format.mins) {
                a.vpbroadcastd(X, c(t));
            }
            for (int h = 0; h < 2; h++) {
                a.vpaddd(dot(t, h), dot(t, h), format.mins ? bias() : X);
            }
        }
    }

    /// Multiplies levels with the activations in X.
    private void emitProduct(Vec to, Vec levels) {
        if (format.words) {
            a.vpmaddwd(to, levels, X);
        } else {
            a.vpmaddubsw(to, levels, X);
        }
    }

    private void emitSum(Vec sum, Vec product) {
        if (format.words) {
            a.vpaddd(sum, sum, product);
        } else {
            a.vpaddw(sum, sum, product);
        }
    }

    private Mem ones() {
        return a.dwords(0x00010001);
    }

    private Mem bias() {
        return a.constant(PackedActivations.BIAS);
    }

    @Override
    void emitScaling() {
        if (format.tiled) {
            for (int h = 0; h < 2; h++) {
                a.vmovdqu(W0, scale(h));
                for (int t = 0; t < tokens; t++) {
                    a.vfmadd231ps(sum(t, h), dot(t, h), W0);
                }
            }
            return;
        }
        for (int t = 0; t < tokens; t++) {
            a.vbroadcastss(W0, dx(t));
            if (!format.words) {
                a.vbroadcastss(W1, u(t));
            }
            if (format.mins) {
                a.vbroadcastss(X, c(t));
            }
            for (int h = 0; h < 2; h++) {
                Vec z = dot(t, h);
                if (format.words) {
                    a.vcvtdq2ps(z, z);
                    a.vmulps(z, z, W0);
                } else {
                    a.vfmadd213ps(z, W0, W1);
                }
                a.vfmadd231ps(sum(t, h), z, scale(h));
                if (format.mins) {
                    a.vfmadd231ps(sum(t, h), X, min(h));
                }
            }
        }
    }

    @Override
    void emitTileSums(boolean first, IntFunction<Mem> scaleSums) {
        Vec zero = dot(0, 0);
        a.vmovdqu(X, a.constant(-PackedActivations.BIAS));
        a.zero(zero);
        for (int h = 0; h < 2; h++) {
            a.vmovdqu(W0, scaleSums.apply(h));
            for (int t = 0; t < tokens; t++) {
                a.vfmadd231ps(sum(t, h), W0, X);
            }
        }
        for (int t = 0; t < tokens; t++) {
            a.vbroadcastss(T, dx(t));
            for (int h = 0; h < 2; h++) {
                a.vfmadd213ps(sum(t, h), T, first ? zero : memory(t, h));
            }
        }
    }
}
