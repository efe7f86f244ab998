package dev.tenon.platform.core.steps;

/// Where the tokens of a step end so that others can go on from the state there: at ends of pages, since others get
/// pages whole. In a prompt that is before the last page, where the next prompt of a chat goes on that repeats this
/// one; before ends of messages, such as that of a system message; where another prompt went another way; and each
/// some pages. In a reply it is the end of each page, the last of which is kept. Used with the loop's lock held.
final class CheckpointStops {
    /// Pages after which a long prompt stops where nothing else is a reason.
    private static final int FAR = 32;
    /// A piece that is cut costs a step more: at most one for so many steps' worth of tokens.
    private static final int APART = 8;
    /// As long as nothing was measured, in pages.
    private static final int FIRST_APART = 4;

    private static final int MOST_APART = 16;

    private final int tokensPerPage;
    private final int apart;

    /// @param tokensPerPage tokens of a page
    /// @param tokensOfAStep how many tokens of prompts take as long as a step in any case; 0 if that is not known
    CheckpointStops(int tokensPerPage, int tokensOfAStep) {
        this.tokensPerPage = tokensPerPage;
        int tokens = tokensOfAStep == 0 ? FIRST_APART * tokensPerPage : APART * tokensOfAStep;
        this.apart = Math.clamp(tokens, tokensPerPage, MOST_APART * tokensPerPage);
    }

    /// Decides where the tokens of a task end that run next, and notes it in its sequence.
    ///
    /// @param count how many may run, at least 1
    /// @param last the last place from which others can go on already
    /// @return how many run
    int stop(SequenceTask task, int count, int last) {
        TokenSequence sequence = task.sequence();
        int first = sequence.computed();
        int end = first + count;
        sequence.stop(0, false);
        for (int at = pageEnd(first) + tokensPerPage; at <= end; at += tokensPerPage) {
            if (at >= sequence.length()) {
                sequence.stop(at, true);
            } else if (at - last >= apart && isWanted(task, at)) {
                sequence.stop(at, false);
                return at - first;
            }
        }
        return count;
    }

    /// {@return how many proposals a sequence may get so that its state does not pass the end of a page}
    int proposals(TokenSequence sequence) {
        return Math.max(0, pageEnd(sequence.computed()) + tokensPerPage - sequence.length());
    }

    /// {@return whether others may go on at the end of a page: another prompt went another way there, or a message
    /// ends}
    ///
    /// @param at the end of a page
    boolean comesAgain(SequenceTask task, int at) {
        return at == task.sequence().branch() || messageEnds(task, at);
    }

    private boolean isWanted(SequenceTask task, int at) {
        TokenSequence sequence = task.sequence();
        int lastOfPrompt = pageEnd(sequence.length() - 1);
        if (at == lastOfPrompt || at == sequence.branch()) {
            return true;
        }
        return lastOfPrompt - at >= apart && (at / tokensPerPage % FAR == 0 || messageEnds(task, at));
    }

    /// {@return whether a message ends at a place, or within the page after it}
    private boolean messageEnds(SequenceTask task, int at) {
        int end = Math.min(at - 1 + tokensPerPage, task.sequence().length() - 1);
        for (int i = at - 1; i < end; i++) {
            if (task.endsMessage(task.sequence().token(i))) {
                return true;
            }
        }
        return false;
    }

    private int pageEnd(int position) {
        return position / tokensPerPage * tokensPerPage;
    }
}
