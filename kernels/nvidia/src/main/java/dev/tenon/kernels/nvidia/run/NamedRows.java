package dev.tenon.kernels.nvidia.run;

import dev.tenon.kernels.nvidia.plan.OutputRows;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The rows of outputs beside the default one, of the last step. They are on the device until they are asked for, but
/// for those of a run after which the step has another, which writes over rows that want logits.
final class NamedRows {
    private final PlanTurn turn;
    private final StepDevice device;
    private final Map<String, OutputRows> outputs;
    private final Map<String, float[][]> kept = new HashMap<>();

    /// @param turn the plan's
    /// @param device has them
    /// @param outputs where, by name
    NamedRows(PlanTurn turn, StepDevice device, Map<String, OutputRows> outputs) {
        this.turn = turn;
        this.device = device;
        this.outputs = outputs;
    }

    /// Begins a step: nothing is left of the last one.
    void begin() {
        kept.clear();
    }

    /// {@return where an output is}
    ///
    /// @throws IllegalArgumentException if there is none of the name
    OutputRows of(String output) {
        OutputRows found = outputs.get(output);
        if (found == null) {
            throw new IllegalArgumentException("the plan has no output " + output + "; it has "
                    + outputs.keySet().stream().sorted().toList());
        }
        return found;
    }

    /// Copies the rows of a run that the next one writes over. In the plan's turn.
    ///
    /// @param first index of the run's first row among those of the step
    /// @param rows how many
    /// @param all rows of the step
    void keep(int first, int rows, int all) {
        outputs.forEach((name, output) -> {
            if (output.selected()) {
                float[][] to = kept.computeIfAbsent(name, _ -> new float[all][]);
                for (int r = 0; r < rows; r++) {
                    to[first + r] = new float[output.width()];
                    fetch(output, r, to[first + r]);
                }
            }
        });
    }

    /// Copies a row, which is there.
    void copy(String output, int row, float[] target) {
        OutputRows from = of(output);
        turn.await();
        try {
            float[][] own = kept.get(output);
            if (own != null) {
                System.arraycopy(own[row], 0, target, 0, from.width());
            } else {
                turn.requireOpen();
                fetch(from, row, target);
            }
        } finally {
            turn.end();
        }
    }

    private void fetch(OutputRows from, int row, float[] target) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(ValueLayout.JAVA_FLOAT, from.width());
            device.read(List.of(from.memory()), row, bytes);
            MemorySegment.copy(bytes, ValueLayout.JAVA_FLOAT, 0, target, 0, from.width());
        }
    }
}
