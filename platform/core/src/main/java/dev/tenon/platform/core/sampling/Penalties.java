package dev.tenon.platform.core.sampling;

/// Makes recent tokens less likely: repetition, frequency and presence penalty.
///
/// `logit = (logit <= 0 ? logit * repeat : logit / repeat) - count * frequency - presence` for every
/// recent token.
final class Penalties implements SamplingStep {
    private final RecentTokens recent;
    private final float repeat;
    private final float frequency;
    private final float presence;

    /// Makes the step.
    ///
    /// @param recent the sequence's recent tokens; owned by the caller, read at each call
    /// @param repeat repetition penalty, above 0; 1 changes nothing
    /// @param frequency subtracted for each occurrence
    /// @param presence subtracted once
    Penalties(RecentTokens recent, float repeat, float frequency, float presence) {
        this.recent = recent;
        this.repeat = repeat;
        this.frequency = frequency;
        this.presence = presence;
    }

    @Override
    public void apply(Candidates c) {
        if (recent.size() == 0) {
            return;
        }
        recent.forEach((id, count) -> {
            int at = c.indexOf(id);
            if (at >= 0) {
                float logit = c.logits[at];
                logit = logit <= 0 ? logit * repeat : logit / repeat;
                c.logits[at] = logit - count * frequency - presence;
            }
        });
        c.edited();
    }
}
