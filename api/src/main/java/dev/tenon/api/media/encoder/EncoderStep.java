package dev.tenon.api.media.encoder;

import dev.tenon.api.device.StepInput;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// The tokens of one step of an encoder.
///
/// @param rows what each of them is given; borrowed until the step has run
/// @param places where each of them stands ([StepInput#place]), or empty where that does not matter
/// @param spans the first token of each span ([StepInput#span]), from 0 on, or empty where there
///     are none
/// @param lead how many of them come first and are part of no row of the result, such as one for
///     the whole picture
/// @param join how many of the others make one row of the result; those that are left over at the end are part of none
/// @param order which row of the result, 0-based, is the first one in the prompt, the second, and
///     so on: each once; or empty where they stand there as they come
public record EncoderStep(List<float[]> rows, List<int[]> places, int[] spans, int lead, int join, int[] order) {
    /// Checks the counts.
    public EncoderStep {
        rows = List.copyOf(rows);
        places = List.copyOf(places);
        spans = spans.clone();
        order = order.clone();
        if (lead < 0
                || join < 1
                || rows.size() < lead + join
                || !places.isEmpty() && places.size() != rows.size()
                || spans.length > 0 && spans[0] != 0) {
            throw new IllegalArgumentException("a step of " + rows.size() + " rows, " + places.size() + " places and "
                    + spans.length + " spans, of which " + join + " rows are joined after " + lead);
        }
        int results = (rows.size() - lead) / join;
        if (order.length > 0
                && !IntStream.of(order)
                        .sorted()
                        .boxed()
                        .toList()
                        .equals(IntStream.range(0, results).boxed().toList())) {
            throw new IllegalArgumentException(
                    "an order of " + order.length + " rows of " + results + "; expected each of them once");
        }
    }

    /// {@return a step whose tokens stand nowhere in particular}
    ///
    /// @param rows what each of them is given
    /// @param join how many make one row of the result
    public static EncoderStep of(List<float[]> rows, int join) {
        return new EncoderStep(rows, List.of(), new int[0], 0, join, new int[0]);
    }

    /// {@return the same with places}
    ///
    /// @param along where each token stands
    public EncoderStep at(List<int[]> along) {
        return new EncoderStep(rows, along, spans, lead, join, order);
    }

    /// {@return the same after another token, which is part of no row of the result}
    ///
    /// @param row what it is given
    public EncoderStep after(float[] row) {
        return new EncoderStep(
                Stream.concat(Stream.of(row), rows.stream()).toList(), places, spans, lead + 1, join, order);
    }

    /// {@return the same in spans}
    ///
    /// @param starts the first token of each span
    /// @param inPrompt the order of the rows of the result
    public EncoderStep in(int[] starts, int[] inPrompt) {
        return new EncoderStep(rows, places, starts, lead, join, inPrompt);
    }

    @Override
    public int[] spans() {
        return spans.clone();
    }

    @Override
    public int[] order() {
        return order.clone();
    }

    /// {@return how many rows the result has}
    public int results() {
        return (rows.size() - lead) / join;
    }

    /// {@return the row of the result that stands at a place in the prompt}
    ///
    /// @param place 0-based
    public int result(int place) {
        return order.length == 0 ? place : order[place];
    }

    /// Adds the tokens to the sequence that was begun last, at positions from 0 on.
    ///
    /// @param input the step
    public void addTo(StepInput input) {
        for (int t = 0, span = 0; t < rows.size(); t++) {
            input.addToken(0, t, t >= lead && (t - lead) % join == join - 1, rows.get(t));
            if (!places.isEmpty()) {
                input.place(places.get(t));
            }
            if (spans.length > 0) {
                span += span + 1 < spans.length && spans[span + 1] == t ? 1 : 0;
                input.span(spans[span], (span + 1 < spans.length ? spans[span + 1] : rows.size()) - 1);
            }
        }
    }
}
