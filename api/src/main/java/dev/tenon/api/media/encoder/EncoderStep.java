package dev.tenon.api.media.encoder;

import dev.tenon.api.device.StepInput;
import java.util.List;

/// The tokens of one step of an encoder.
///
/// @param rows what each of them is given; borrowed until the step has run
/// @param places where each of them stands ([StepInput#place]), or empty where that does not matter
/// @param spans the first token of each span ([StepInput#span]), from 0 on, or empty where there are none
/// @param join how many of them make one row of the result
public record EncoderStep(List<float[]> rows, List<int[]> places, int[] spans, int join) {
    /// Checks the counts.
    public EncoderStep {
        rows = List.copyOf(rows);
        places = List.copyOf(places);
        spans = spans.clone();
        if (rows.isEmpty()
                || join < 1
                || rows.size() % join != 0
                || !places.isEmpty() && places.size() != rows.size()
                || spans.length > 0 && spans[0] != 0) {
            throw new IllegalArgumentException("a step of " + rows.size() + " rows, " + places.size() + " places and "
                    + spans.length + " spans, of which " + join + " rows are joined");
        }
    }

    @Override
    public int[] spans() {
        return spans.clone();
    }

    /// {@return how many rows the result has}
    public int results() {
        return rows.size() / join;
    }

    /// Adds the tokens to the sequence that was begun last, at positions from 0 on.
    ///
    /// @param input the step
    public void addTo(StepInput input) {
        for (int t = 0, span = 0; t < rows.size(); t++) {
            input.addToken(0, t, t % join == join - 1, rows.get(t));
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
