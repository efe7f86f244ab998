package dev.tenon.platform.core.sampling;

import dev.tenon.api.text.Mirostat;

/// Draws a token after dropping some, so that tokens surprise by a number of bits on average; see [Mirostat].
final class MirostatDraw implements SamplingStep {
    private static final double LN_2 = Math.log(2);
    /// Tokens whose probabilities the first version looks at.
    private static final int LOOKED_AT = 100;

    private final Mirostat settings;
    private final Draw draw;
    /// The most bits that a token may have, which each token corrects.
    private double most;

    /// Makes the step.
    ///
    /// @param settings how
    /// @param draw draws from what is left
    MirostatDraw(Mirostat settings, Draw draw) {
        this.settings = settings;
        this.draw = draw;
        this.most = 2 * settings.tau();
    }

    @Override
    public void apply(Candidates c) {
        if (settings.version() == 1) {
            c.keepTop(kept(c));
        } else {
            double sum = c.softmax();
            c.keepFrom(Math.min(c.logits[c.argMax()], c.logits[c.argMax()] + Math.log(sum) - most * LN_2));
        }
        draw.apply(c);
        most -= settings.eta() * (draw.bits() - settings.tau());
    }

    /// {@return how many of the best tokens surprise by `most` bits at most, if probabilities fall as by Zipf's law}
    private int kept(Candidates c) {
        int looked = Math.min(LOOKED_AT, c.count);
        c.sortTop(looked);
        double products = 0;
        double squares = 0;
        for (int i = 0; i + 1 < looked; i++) {
            double ranks = Math.log((i + 2.0) / (i + 1.0));
            products += ranks * (c.logits[i] - c.logits[i + 1]);
            squares += ranks * ranks;
        }
        double fall = products / squares;
        double over = fall - 1;
        double kept = Math.pow(over * Math.pow(2, most) / (1 - Math.pow(c.ids.length, -over)), 1 / fall);
        return Double.isNaN(kept) ? c.count : (int) Math.clamp(kept, 1, c.count);
    }
}
