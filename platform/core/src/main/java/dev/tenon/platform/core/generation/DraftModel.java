package dev.tenon.platform.core.generation;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.api.text.LogitsProcessor.TokenHistory;
import dev.tenon.platform.core.steps.Head;
import java.util.Arrays;

/// Proposes what a smaller model of the same vocabulary finds most probable, a token after the other. Its session has
/// the tokens of one sequence, as far as they are the same.
public final class DraftModel implements TokenProposer {
    private static final int[] NONE = {};
    private static final int MOST = 8;
    /// How much a new measurement counts among those before.
    private static final double SHARE = 0.25;

    private final LoadedModel model;
    private final Session session;
    /// The session's tokens.
    private int[] tokens = new int[64];

    private double nanos;
    private int best;

    /// @param model the smaller model; stays the caller's
    public DraftModel(LoadedModel model) {
        this.model = model;
        this.session = model.newSession();
    }

    @Override
    public int most() {
        return MOST;
    }

    @Override
    public double nanosPerToken() {
        return nanos;
    }

    @Override
    public int[] propose(TokenHistory sequence, int most) {
        int count = Math.min(most, model.contextLength() - sequence.length());
        if (count <= 0) {
            return NONE;
        }
        int[] proposed = new int[count];
        catchUp(sequence);
        proposed[0] = best;
        for (int i = 1; i < count; i++) {
            long begin = System.nanoTime();
            run(proposed[i - 1]);
            long took = System.nanoTime() - begin;
            nanos = nanos == 0 ? took : nanos + SHARE * (took - nanos);
            proposed[i] = best;
        }
        return proposed;
    }

    /// Runs the tokens of the sequence that the session does not have; at least the last one.
    private void catchUp(TokenHistory sequence) {
        int same = 0;
        int most = Math.min(session.length(), sequence.length() - 1);
        while (same < most && tokens[same] == sequence.token(same)) {
            same++;
        }
        if (same < session.length()) {
            session.truncate(same);
        }
        int[] rest = new int[sequence.length() - same];
        for (int i = 0; i < rest.length; i++) {
            rest[i] = sequence.token(same + i);
        }
        run(rest);
    }

    private void run(int... next) {
        int before = session.length();
        if (before + next.length > tokens.length) {
            tokens = Arrays.copyOf(tokens, 2 * (before + next.length));
        }
        System.arraycopy(next, 0, tokens, before, next.length);
        session.evaluate(next, Session.Rows.LAST, (index, logits) -> best = Head.best(logits));
    }

    @Override
    public void close() {
        session.close();
    }
}
