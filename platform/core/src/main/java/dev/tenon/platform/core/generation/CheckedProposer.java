package dev.tenon.platform.core.generation;

import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.api.text.LogitsProcessor.TokenHistory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A proposer that is not asked again once it failed or proposed what it must not: a session goes on without it.
public final class CheckedProposer implements TokenProposer {
    private static final Logger LOG = LoggerFactory.getLogger(CheckedProposer.class);
    private static final int[] NONE = {};
    /// More than pays on any device.
    private static final int LIMIT = 64;

    private final TokenProposer proposer;
    private final String name;
    private final int vocabularySize;
    private boolean failed;

    /// @param proposer the proposer, closed with this one
    /// @param name what messages call it
    /// @param vocabularySize tokens of the model
    public CheckedProposer(TokenProposer proposer, String name, int vocabularySize) {
        this.proposer = proposer;
        this.name = name;
        this.vocabularySize = vocabularySize;
    }

    @Override
    public int[] propose(TokenHistory tokens, int most) {
        if (failed) {
            return NONE;
        }
        try {
            int[] proposed = proposer.propose(tokens, most);
            String wrong = wrong(proposed, most);
            if (wrong.isEmpty()) {
                return proposed;
            }
            fail(new IllegalStateException(wrong));
        } catch (RuntimeException | LinkageError e) {
            fail(e);
        }
        return NONE;
    }

    private String wrong(int[] proposed, int most) {
        if (proposed == null) {
            return "null in place of tokens";
        }
        if (proposed.length > most) {
            return proposed.length + " tokens where " + most + " were asked for";
        }
        for (int id : proposed) {
            if (id < 0 || id >= vocabularySize) {
                return "token " + id + " of a vocabulary of " + vocabularySize;
            }
        }
        return "";
    }

    private void fail(Throwable why) {
        failed = true;
        LOG.warn("{} proposes no more tokens to a session", name, why);
    }

    @Override
    public int most() {
        if (failed) {
            return 1;
        }
        try {
            return Math.clamp(proposer.most(), 1, LIMIT);
        } catch (RuntimeException | LinkageError e) {
            fail(e);
            return 1;
        }
    }

    @Override
    public double nanosPerToken() {
        if (failed) {
            return 0;
        }
        try {
            double nanos = proposer.nanosPerToken();
            return nanos >= 0 ? nanos : 0;
        } catch (RuntimeException | LinkageError e) {
            fail(e);
            return 0;
        }
    }

    @Override
    public void close() {
        try {
            proposer.close();
        } catch (RuntimeException | LinkageError e) {
            LOG.warn("{} cannot be closed", name, e);
        }
    }
}
