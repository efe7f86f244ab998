package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.device.StepInput;
import java.util.Arrays;

/// Which rows of a step use which adapter, and with which scale. Allocates only for a step that is larger, or uses
/// more adapters, than all before it.
final class AdapterRows {
    /// The rows that use an adapter, in ascending order.
    private static final class Rows {
        private int[] numbers = new int[1];
        private float[] scales = new float[1];
        private int count;

        private void add(int number, float scale) {
            if (count == numbers.length) {
                numbers = Arrays.copyOf(numbers, 2 * count);
                scales = Arrays.copyOf(scales, 2 * count);
            }
            numbers[count] = number;
            scales[count++] = scale;
        }
    }

    /// Of all tokens, and of those that want logits, for each adapter.
    private Rows[] all = {};
    private Rows[] selected = {};

    /// Takes over the input of a step.
    ///
    /// @param input the step
    void begin(StepInput input) {
        for (int a = 0; a < all.length; a++) {
            all[a].count = 0;
            selected[a].count = 0;
        }
        int row = 0;
        for (int t = 0; t < input.tokenCount(); t++) {
            float[] scales = input.adapterScales(input.sequence(t));
            grow(scales.length);
            for (int a = 0; a < scales.length; a++) {
                if (scales[a] != 0) {
                    all[a].add(t, scales[a]);
                    if (input.wantsLogits(t)) {
                        selected[a].add(row, scales[a]);
                    }
                }
            }
            row += input.wantsLogits(t) ? 1 : 0;
        }
    }

    private void grow(int adapters) {
        for (int a = all.length; a < adapters; a++) {
            all = Arrays.copyOf(all, a + 1);
            selected = Arrays.copyOf(selected, a + 1);
            all[a] = new Rows();
            selected[a] = new Rows();
        }
    }

    private Rows rows(boolean wanted, int adapter) {
        return wanted ? selected[adapter] : all[adapter];
    }

    /// {@return how many rows use an adapter}
    ///
    /// @param wanted whether rows are those that want logits, instead of all tokens
    /// @param adapter which adapter of the graph
    int count(boolean wanted, int adapter) {
        return adapter < all.length ? rows(wanted, adapter).count : 0;
    }

    /// {@return the numbers of these rows, in ascending order; more than [#count] elements}
    int[] numbers(boolean wanted, int adapter) {
        return rows(wanted, adapter).numbers;
    }

    /// {@return the scale of the row at an index among these rows}
    float scale(boolean wanted, int adapter, int index) {
        return rows(wanted, adapter).scales[index];
    }

    /// {@return the index of the first of these rows whose number is not below another}
    int indexOf(boolean wanted, int adapter, int number) {
        Rows rows = rows(wanted, adapter);
        int index = Arrays.binarySearch(rows.numbers, 0, rows.count, number);
        return index < 0 ? -index - 1 : index;
    }
}
