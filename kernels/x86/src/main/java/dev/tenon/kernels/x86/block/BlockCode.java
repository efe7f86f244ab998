package dev.tenon.kernels.x86.block;

import static dev.tenon.kernels.x86.asm.Operand.zmm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import java.util.function.IntUnaryOperator;

/// How one format's blocks become integer levels and float scales in registers; the kernels around
/// it are the same for all formats.
///
/// ```
/// value[i] = scale[g] * (level[i] - zero)        without minimums, g = i / group
/// value[i] = scale[g] * level[i] - min[g]        with minimums (zero is then 1 in the packed row)
/// ```
///
/// Levels are unsigned bytes that meet activations of one byte, or signed words that meet
/// activations of two, for formats whose weights are too exact for the former. Code is written for
/// spans of 256 weights. Levels come a register at a time, in the order of the weights, so that
/// formats share one packed row (`PackCode`). Registers: an emitter may use its parameters, and the
/// constants that it loaded itself from register [#FIRST_CONSTANT] on; nothing else.
public abstract class BlockCode {
    /// Weights in a span.
    public static final int SPAN = 256;
    /// Weights in a unit, the least that is handled.
    public static final int UNIT = 32;
    /// First vector register that [#constants512] may fill.
    public static final int FIRST_CONSTANT = 21;

    /// The format as ggml spells it.
    public final String id;
    /// Bytes of 256 weights.
    public final int spanBytes;
    /// Bytes of a block that is less than a span: a row may end with some of them; 0 where a block is the whole span.
    public final int blockBytes;
    /// How many times 32 weights such a block has.
    public final int blockUnits;
    /// Weights under one scale, and activations too: 16 or 32.
    public final int group;
    /// Whether groups have a minimum.
    public final boolean mins;
    /// What is subtracted from each level; 1 with minimums, 0 for words.
    public final float zero;
    /// Greatest level of bytes.
    public final int most;
    /// Whether levels and activations are signed words rather than bytes.
    public final boolean words;
    /// Whether activations of one place in their spans share a scale over a tile of spans
    /// (`PackCode`).
    public final boolean tiled;

    private final MicroKernels byHand;

    /// Creates the generator of a format whose levels are bytes, from 0 to `most`.
    ///
    /// @param tiled whether activations share scales over tiles; groups of 16 without minimums
    /// @param byHand what is written by hand for it
    protected BlockCode(
            String id,
            int spanBytes,
            int blockBytes,
            int blockUnits,
            int group,
            int most,
            boolean mins,
            float zero,
            boolean tiled,
            MicroKernels byHand) {
        this.id = id;
        this.spanBytes = spanBytes;
        this.blockBytes = blockBytes;
        this.blockUnits = blockUnits;
        this.group = group;
        this.mins = mins;
        this.zero = zero;
        this.most = most;
        this.words = false;
        this.tiled = tiled;
        this.byHand = byHand;
    }

    /// Creates the generator of a format of blocks of 32 whose levels are words.
    protected BlockCode(String id, int blockBytes, MicroKernels byHand) {
        this.id = id;
        this.spanBytes = SPAN / UNIT * blockBytes;
        this.blockBytes = blockBytes;
        this.blockUnits = 1;
        this.group = UNIT;
        this.mins = false;
        this.zero = 0;
        this.most = 0;
        this.words = true;
        this.tiled = false;
        this.byHand = byHand;
    }

    /// {@return bytes of a level, and of an activation}
    public final int levelBytes() {
        return words ? Short.BYTES : Byte.BYTES;
    }

    /// {@return elements that a row's length must be a multiple of}
    public final int blockSize() {
        return blockBytes == 0 ? SPAN : UNIT * blockUnits;
    }

    /// {@return bytes of a row}
    ///
    /// @param n elements, a multiple of [#blockSize]
    public final long rowBytes(int n) {
        return blockBytes == 0 ? (long) n / SPAN * spanBytes : (long) n / blockSize() * blockBytes;
    }

    /// Loads constants into registers from [#FIRST_CONSTANT] on.
    public abstract void constants512(Assembler a);

    /// Computes the float scales of a span.
    ///
    /// Groups of 32: the eight scales to lanes 0-7 of `scales`, and the minimums to lanes 8-15, or
    /// the scales again where there are none. Groups of 16: scales to `scales`, minimums to `mins`.
    ///
    /// @param w points to the span
    /// @param scales 512 bits
    /// @param mins 512 bits; may be used freely without minimums
    /// @param t temporary
    /// @param u temporary
    public abstract void scales512(Assembler a, Gpr w, Vec scales, Vec mins, Vec t, Vec u);

    /// Computes 64 bytes of levels: 64 weights as unsigned bytes, or 32 as signed words.
    ///
    /// @param w points to the span
    /// @param chunk which 64 bytes of the span's levels, 0..3, or 0..7 of words
    /// @param levels receives them
    /// @param t temporary
    public abstract void levels512(Assembler a, Gpr w, int chunk, Vec levels, Vec t);

    /// Computes the levels of 32 weights of a block that is less than a span: bytes in the lower part of a register,
    /// the rest 0, or words.
    ///
    /// @param w points to the block
    /// @param unit which 32 weights of the block
    /// @param levels receives them
    /// @param t temporary
    public void unit512(Assembler a, Gpr w, int unit, Vec levels, Vec t) {
        throw new IllegalStateException(id + " has no blocks that are less than a span.");
    }

    /// {@return how four rows are multiplied with one token at once; null if they are one after the
    /// other}
    public final StreamMicroKernel streams512() {
        return byHand.streams().get();
    }

    /// {@return how two rows are multiplied with some tokens at once; null if they are not}
    public final PairMicroKernel pairs512() {
        return byHand.pairs().get();
    }

    /// {@return how four rows are multiplied with some tokens, or null}
    public final QuadMicroKernel quads512() {
        return byHand.quads().get();
    }

    /// {@return whether [#columns] can be used, which panels are unpacked faster with}
    public boolean hasColumns() {
        return false;
    }

    /// {@return whether [#columns] unpacks the scales too; without, they are unpacked by rows}
    public boolean columnsHaveScales() {
        return !mins;
    }

    /// Unpacks the levels, and the scales if it does so, of a span of one part of a panel, with registers 0 to 15 that
    /// hold columns.
    public void columns(Assembler a, Columns span) {
        throw new IllegalStateException(id + " is unpacked by rows.");
    }

    /// Computes the float scales of a span and stores them, with registers 8 to 12, 14 and 15 as
    /// temporaries.
    ///
    /// @param w points to the span
    /// @param scales receives 8 or 16 floats
    /// @param mins receives as many minimums, if there are any
    public abstract void scales256(Assembler a, Gpr w, Mem scales, Mem mins);

    /// Computes 32 bytes of levels: 32 weights as unsigned bytes, or 16 as signed words.
    ///
    /// @param w points to the span
    /// @param unit which 32 bytes of the span's levels, 0..7, or 0..15 of words
    /// @param levels receives them
    /// @param t temporary
    public abstract void levels256(Assembler a, Gpr w, int unit, Vec levels, Vec t);

    /// Loads an F16 number into all lanes of a register as a float.
    public static void f16ToAll(Assembler a, Mem from, Vec to) {
        a.zero(to);
        a.vpinsrw(to, to, from, 0);
        a.vcvtph2ps(to.x(), to.x());
        a.vbroadcastss(to, to.x());
    }

    /// Loads the scale of a block that is less than a span as a float into lane 0.
    ///
    /// @param w points to the block
    /// @param d 128 bits
    public void unitScale(Assembler a, Gpr w, Vec d) {
        throw new IllegalStateException(id + " has no blocks that are less than a span.");
    }

    /// Loads the minimum of a block that is less than a span as a float into lane 0.
    ///
    /// @param w points to the block
    /// @param m 128 bits
    public void unitMin(Assembler a, Gpr w, Vec m) {
        throw new IllegalStateException(id + " has no minimums of such blocks.");
    }

    /// {@return the n-th 512-bit constant register}
    public static Vec constantZ(int n) {
        return zmm(FIRST_CONSTANT + n);
    }

    /// Loads a constant into the n-th 512-bit constant register.
    public static void loadZ(Assembler a, int n, IntUnaryOperator lane) {
        a.vmovdqu(constantZ(n), a.constant(lane));
    }
}
