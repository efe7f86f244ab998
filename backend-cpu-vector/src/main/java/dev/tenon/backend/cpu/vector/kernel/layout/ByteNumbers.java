package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Numbers.Piece;
import dev.tenon.backend.cpu.vector.kernel.layout.ByteStep.Finish;
import dev.tenon.backend.cpu.vector.kernel.layout.ByteStep.Place;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Numbers of at most eight bits, each as a byte.
///
/// The numbers of a block are padded to a multiple of sixteen. Sixteen of them come from one load for each piece if
/// their pieces lie within sixteen bytes, otherwise from as many as that takes.
final class ByteNumbers {
    private static final int LANES = 16;

    private final ByteStep[] steps;
    private final int perBlock;

    private ByteNumbers(ByteStep[] steps, int perBlock) {
        this.steps = steps;
        this.perBlock = perBlock;
    }

    /// What a load has of sixteen numbers.
    ///
    /// @param order how many loads of theirs are before it
    /// @param last whether it is the last one
    /// @param bits first bit of each piece, counted from the load's first; -1 for none
    /// @param widths bits of each
    /// @param to lowest of them in the number; of trits the digit
    private record Shape(int order, boolean last, List<Integer> bits, List<Integer> widths, List<Integer> to) {
        /// {@return whether all pieces are at the same bits of neighbouring bytes}
        boolean straight() {
            for (int i = 0; i < LANES; i++) {
                if (bits.get(i) != bits.getFirst() + Byte.SIZE * i
                        || !widths.get(i).equals(widths.getFirst())
                        || !to.get(i).equals(to.getFirst())) {
                    return false;
                }
            }
            return bits.getFirst() + widths.getFirst() <= Byte.SIZE;
        }

        ByteStep step(Place[] places, Finish finish, boolean trits) {
            Finish then = last ? finish : Finish.NONE;
            boolean adds = order > 0;
            if (trits) {
                return new TritStep(places, adds, then, array(bits), array(to));
            }
            return straight()
                    ? new StraightStep(
                            places,
                            adds,
                            then,
                            bits.getFirst() - to.getFirst(),
                            (1 << widths.getFirst()) - 1 << to.getFirst())
                    : new SelectStep(places, adds, then, array(bits), array(widths), array(to));
        }

        private static int[] array(List<Integer> numbers) {
            return numbers.stream().mapToInt(Integer::intValue).toArray();
        }
    }

    /// {@return whether numbers can be read}
    ///
    /// @param numbers the numbers
    static boolean reads(Numbers numbers) {
        return numbers.type().whole() && (numbers.type() == Numbers.Type.TRITS || numbers.width() <= Byte.SIZE);
    }

    /// Chooses how to read numbers.
    ///
    /// @param numbers which [#reads] accepts
    /// @param span where they are
    /// @param zero what is subtracted from each
    /// @param table what they stand for instead, at most sixteen bytes; empty for none
    static ByteNumbers of(Numbers numbers, Span span, int zero, byte[] table) {
        boolean signed = numbers.type() == Numbers.Type.SIGNED && numbers.width() < Byte.SIZE;
        int flip = signed ? 1 << numbers.width() - 1 : 0;
        Finish finish =
                new Finish((byte) (zero + flip), (byte) flip, Arrays.copyOf(table, table.length == 0 ? 0 : LANES));
        int perBlock = Math.ceilDiv(numbers.count(), LANES) * LANES;
        List<Map<Shape, List<Place>>> orders = new ArrayList<>();
        for (int first = 0; first < numbers.count(); first += LANES) {
            List<List<Piece>> pieces = new ArrayList<>();
            for (int i = first; i < Math.min(first + LANES, numbers.count()); i++) {
                pieces.add(numbers.pieces(i));
            }
            for (int block = 0; block < span.blocks(); block++) {
                add(orders, pieces, span, block, block * perBlock + first);
            }
        }
        List<ByteStep> steps = new ArrayList<>();
        boolean trits = numbers.type() == Numbers.Type.TRITS;
        for (Map<Shape, List<Place>> shapes : orders) {
            shapes.forEach((shape, places) -> {
                places.sort(Comparator.comparingInt(Place::to));
                steps.add(shape.step(places.toArray(Place[]::new), finish, trits));
            });
        }
        return new ByteNumbers(steps.toArray(ByteStep[]::new), perBlock);
    }

    /// Adds what sixteen numbers of a block are loaded by.
    private static void add(
            List<Map<Shape, List<Place>>> orders, List<List<Piece>> numbers, Span span, int block, int to) {
        List<Load> loads = loads(numbers, span, block);
        for (int order = 0; order < loads.size(); order++) {
            if (orders.size() == order) {
                orders.add(new LinkedHashMap<>());
            }
            Load load = loads.get(order);
            Shape shape = new Shape(
                    order, order == loads.size() - 1, List.copyOf(load.bits), List.copyOf(load.widths), load.to);
            orders.get(order).computeIfAbsent(shape, _ -> new ArrayList<>()).add(new Place(load.at, to));
        }
    }

    private record Load(int at, List<Integer> bits, List<Integer> widths, List<Integer> to) {
        static Load at(int at) {
            return new Load(
                    at,
                    new ArrayList<>(Collections.nCopies(LANES, -1)),
                    new ArrayList<>(Collections.nCopies(LANES, 0)),
                    new ArrayList<>(Collections.nCopies(LANES, 0)));
        }

        boolean has(Piece piece, int start) {
            return start + piece.bit() >= Byte.SIZE * at
                    && start + piece.bit() + piece.width() <= Byte.SIZE * (at + Span.LOAD);
        }

        void put(int lane, Piece piece, int start) {
            bits.set(lane, start + piece.bit() - Byte.SIZE * at);
            widths.set(lane, piece.width());
            to.set(lane, piece.to());
        }
    }

    private static List<Load> loads(List<List<Piece>> numbers, Span span, int block) {
        List<Load> loads = new ArrayList<>();
        int start = Byte.SIZE * block * span.bytes();
        int most = numbers.stream().mapToInt(List::size).max().orElseThrow();
        for (int p = 0; p < most; p++) {
            boolean[] done = new boolean[numbers.size()];
            while (true) {
                int first = -1;
                for (int i = 0; i < done.length; i++) {
                    if (!done[i]
                            && p < numbers.get(i).size()
                            && (first < 0
                                    || numbers.get(i).get(p).bit()
                                            < numbers.get(first).get(p).bit())) {
                        first = i;
                    }
                }
                if (first < 0) {
                    break;
                }
                Load load = Load.at(span.loadAt(block, numbers.get(first).get(p).bit() / Byte.SIZE, Span.LOAD));
                for (int i = 0; i < done.length; i++) {
                    if (!done[i]
                            && p < numbers.get(i).size()
                            && load.has(numbers.get(i).get(p), start)) {
                        load.put(i, numbers.get(i).get(p), start);
                        done[i] = true;
                    }
                }
                loads.add(load);
            }
        }
        return loads;
    }

    /// Unpacks numbers of some rows.
    ///
    /// @param w weights
    /// @param at where the first row's span begins
    /// @param apart bytes to the next row's span
    /// @param rows number of rows
    /// @param blocks blocks of each
    /// @param out receives the numbers, those of a block padded
    /// @param first index of the first
    /// @param outApart bytes to those of the next row
    void read(MemorySegment w, long at, long apart, int rows, int blocks, byte[] out, int first, int outApart) {
        for (ByteStep step : steps) {
            step.run(w, at, apart, rows, blocks * perBlock, out, first, outApart);
        }
    }

    /// {@return the numbers of a block, with padding}
    int perBlock() {
        return perBlock;
    }
}
