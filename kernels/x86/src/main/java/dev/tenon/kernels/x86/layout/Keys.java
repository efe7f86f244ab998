package dev.tenon.kernels.x86.layout;

import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers.Piece;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;

/// Whole numbers of a span as dwords, neighbouring ones in the lanes of a register. Those of a register lie within
/// sixteen bytes, which are loaded to each 128 bits; bytes are permuted, shifted by lane, and masked.
final class Keys {
    private static final int WINDOW = 16;
    private static final int NO_BYTE = 0x80;

    private final BlockLayout layout;
    private final Constants constants;
    /// Numbers of a block.
    private final int perBlock;
    private final List<List<Piece>> numbers;

    private Keys(BlockLayout layout, Constants constants, int perBlock, List<List<Piece>> numbers) {
        this.layout = layout;
        this.constants = constants;
        this.perBlock = perBlock;
        this.numbers = numbers;
    }

    /// {@return the numbers of a layout's blocks; null if the lanes of a register are too far apart, or not alike}
    ///
    /// @param perBlock how many a block has
    /// @param ofBlock where those are in a block
    static Keys of(BlockLayout layout, Constants constants, int perBlock, IntFunction<List<Piece>> ofBlock) {
        List<List<Piece>> numbers = new ArrayList<>();
        for (int block = 0; block < BlockCode.SPAN / layout.size(); block++) {
            int from = block * layout.bytes() * Byte.SIZE;
            for (int i = 0; i < perBlock; i++) {
                numbers.add(ofBlock.apply(i).stream()
                        .map(piece -> new Piece(from + piece.bit(), piece.width(), piece.to()))
                        .toList());
            }
        }
        Keys keys = new Keys(layout, constants, perBlock, numbers);
        int least = numbers.size() * BlockCode.UNIT / BlockCode.SPAN;
        return layout.bytes() >= WINDOW && keys.fit(least) && keys.fit(2 * least) ? keys : null;
    }

    private boolean fit(int lanes) {
        for (int first = 0; first < numbers.size(); first += lanes) {
            for (int rank = 0; rank < numbers.getFirst().size(); rank++) {
                int window = window(first, lanes, rank);
                for (List<Piece> number : numbers.subList(first, first + lanes)) {
                    if (number.size() != numbers.getFirst().size()) {
                        return false;
                    }
                    Piece piece = number.get(rank);
                    Piece lead = numbers.get(first).get(rank);
                    int last = (piece.bit() + piece.width() - 1) / Byte.SIZE;
                    if (last >= window + WINDOW || piece.to() != lead.to() || piece.width() > 3 * Byte.SIZE) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    /// {@return the byte from which sixteen are loaded: never outside of the last number's block}
    private int window(int first, int lanes, int rank) {
        int least = Integer.MAX_VALUE;
        for (List<Piece> number : numbers.subList(first, first + lanes)) {
            least = Math.min(least, number.get(rank).bit() / Byte.SIZE);
        }
        return Math.min(least, ((first + lanes - 1) / perBlock + 1) * layout.bytes() - WINDOW);
    }

    /// Puts numbers together.
    ///
    /// @param w points to the span, or to a block where the numbers are those of a block
    /// @param first the first number
    /// @param out receives them: 4, 8 or 16
    /// @param t temporary
    void emit(Assembler a, Gpr w, int first, Vec out, Vec t) {
        int lanes = out.bits() / Integer.SIZE;
        for (int rank = 0; rank < numbers.getFirst().size(); rank++) {
            Vec v = rank == 0 ? out : t;
            int window = window(first, lanes, rank);
            switch (v.bits()) {
                case 128 -> a.vmovdqu(v, mem(w, window));
                case 256 -> a.vbroadcasti128(v, mem(w, window));
                default -> a.vbroadcasti32x4(v, mem(w, window));
            }
            int r = rank;
            IntFunction<Piece> piece = i -> numbers.get(first + i % lanes).get(r);
            IntUnaryOperator shift = i -> piece.apply(i).bit() % Byte.SIZE;
            a.vpshufb(v, v, constants.of(a, v, i -> bytes(piece.apply(i), window)));
            boolean same = true;
            boolean whole = true;
            for (int i = 0; i < lanes; i++) {
                same &= shift.applyAsInt(i) == shift.applyAsInt(0);
                whole &= shift.applyAsInt(i) == 0 && piece.apply(i).width() % Byte.SIZE == 0;
            }
            if (!same) {
                a.vpsrlvd(v, v, constants.of(a, v, shift));
            } else if (shift.applyAsInt(0) > 0) {
                a.vpsrld(v, v, shift.applyAsInt(0));
            }
            if (!whole) {
                a.vpand(v, v, constants.of(a, v, i -> (1 << piece.apply(i).width()) - 1));
            }
            if (piece.apply(0).to() > 0) {
                a.vpslld(v, v, piece.apply(0).to());
            }
            if (rank > 0) {
                a.vpor(out, out, v);
            }
        }
    }

    /// {@return indices of the bytes that have a piece, in a dword}
    private static int bytes(Piece piece, int window) {
        int at = piece.bit() / Byte.SIZE - window;
        int used = (piece.bit() % Byte.SIZE + piece.width() + Byte.SIZE - 1) / Byte.SIZE;
        int dword = 0;
        for (int i = 0; i < Integer.BYTES; i++) {
            dword |= (i < used ? at + i : NO_BYTE) << Byte.SIZE * i;
        }
        return dword;
    }
}
