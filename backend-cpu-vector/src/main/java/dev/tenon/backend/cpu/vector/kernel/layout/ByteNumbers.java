package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Numbers.Piece;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import dev.tenon.backend.cpu.vector.kernel.layout.ByteStep.Finish;
import dev.tenon.backend.cpu.vector.kernel.layout.ByteStep.Place;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

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

    /// What places of a step have in common.
    ///
    /// @param order loads before it
    /// @param last whether none follows
    /// @param widths bits of each piece, of loads with neighbouring bytes; otherwise empty
    /// @param lanes what each number gets of any other load
    private record Shape(int order, boolean last, List<Integer> widths, List<Piece> lanes) {}

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
        boolean trits = numbers.type() == Numbers.Type.TRITS;
        int perBlock = Math.ceilDiv(numbers.count(), LANES) * LANES;
        Map<Shape, List<Place>> steps =
                new TreeMap<>(Comparator.comparingInt(Shape::order).thenComparing(Shape::toString));
        for (int first = 0; first < numbers.count(); first += LANES) {
            List<List<Piece>> pieces = new ArrayList<>();
            for (int i = first; i < Math.min(first + LANES, numbers.count()); i++) {
                pieces.add(numbers.pieces(i));
            }
            for (int block = 0; block < span.blocks(); block++) {
                add(steps, Load.all(pieces, span, block), block * perBlock + first, trits);
            }
        }
        return new ByteNumbers(
                steps.entrySet().stream()
                        .map(step -> step(step.getKey(), step.getValue(), trits, finish))
                        .toArray(ByteStep[]::new),
                perBlock);
    }

    /// Steps for sixteen numbers: one for up to two loads that have neighbouring bytes, one for each load after those.
    private static void add(Map<Shape, List<Place>> steps, List<Load> loads, int to, boolean trits) {
        int straight = 0;
        while (!trits
                && straight < Math.min(2, loads.size())
                && loads.get(straight).isStraight()) {
            straight++;
        }
        List<Load> together = loads.subList(0, straight);
        if (straight > 0) {
            Shape shape = new Shape(
                    0,
                    straight == loads.size(),
                    together.stream().map(Load::width).toList(),
                    List.of());
            Place place = new Place(
                    to,
                    together.stream().map(Load::at).toList(),
                    together.stream().map(Load::shift).toList());
            steps.computeIfAbsent(shape, _ -> new ArrayList<>()).add(place);
        }
        for (int order = straight; order < loads.size(); order++) {
            Load load = loads.get(order);
            Shape shape = new Shape(order, order == loads.size() - 1, List.of(), load.lanes());
            Place place = new Place(to, List.of(load.at()), List.of());
            steps.computeIfAbsent(shape, _ -> new ArrayList<>()).add(place);
        }
    }

    private static ByteStep step(Shape shape, List<Place> places, boolean trits, Finish finish) {
        places.sort(Comparator.comparingInt(Place::to));
        Finish then = shape.last ? finish : Finish.NONE;
        boolean adds = shape.order > 0;
        if (!shape.widths.isEmpty()) {
            return new StraightStep(places, then, shape.widths);
        }
        return trits ? new TritStep(places, adds, then, shape.lanes) : new SelectStep(places, adds, then, shape.lanes);
    }

    /// Unpacks numbers of some rows.
    ///
    /// @param rows the rows
    /// @param blocks blocks of each
    /// @param out receives the numbers, those of a block padded
    /// @param first index of the first
    /// @param outApart bytes to those of the next row
    void read(RowSpans rows, int blocks, byte[] out, int first, int outApart) {
        for (ByteStep step : steps) {
            step.run(rows, blocks * perBlock, out, first, outApart);
        }
    }

    /// {@return the numbers of a block, with padding}
    int perBlock() {
        return perBlock;
    }
}
