package dev.tenon.platform.core.media;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.media.encoder.EncoderStep;
import dev.tenon.platform.core.placement.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// Runs steps of an encoder that is placed.
public final class EncoderRun {
    private EncoderRun() {}

    /// Runs a step. Nobody else uses the placement meanwhile.
    ///
    /// @param placement the encoder's
    /// @param step what it is given
    /// @return its rows in the order in which they stand in a prompt; owned by the caller
    /// @throws TenonException (`STATE-002`) if the step is larger than what the encoder was loaded for
    public static List<float[]> rows(Placement placement, EncoderStep step) {
        int most = placement.definition().config().contextLength();
        if (step.rows().size() > most) {
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    "A picture or sound makes " + step.rows().size() + " tokens for its encoder, which takes " + most
                            + ". Make it smaller, or shorter.");
        }
        StepInput input = new StepInput();
        int pages = placement.plan().kvPages().pageCount();
        input.addSequence(IntStream.range(0, pages).toArray());
        step.addTo(input);
        StepResult result = placement.plan().run(input);
        placement.check().run();
        int width = placement.definition().graph().output().width();
        List<float[]> rows = new ArrayList<>(result.rows());
        for (int r = 0; r < result.rows(); r++) {
            float[] row = new float[width];
            result.logits(step.result(r), row);
            rows.add(row);
        }
        return rows;
    }
}
