package dev.tenon.platform.chat;

import dev.tenon.api.chat.CallFormat.Channels;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.TokenMasks;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.IntStream;

/// Ends the reasoning of a reply after some tokens: the message and the mark that ends it follow in any case. Reasoning
/// is what stands between the model's marks at the beginning of the reply, or in the channels for it.
final class ReasoningBudget implements TokenConstraint {
    /// What is kept of the text, which is more than any mark has.
    private static final int KEPT = 256;
    /// Tokens that a mark may have, or a character: so many the budget waits for.
    private static final int LONGEST_MARK = 16;

    private final Tokenizer tokenizer;
    /// What else the reply has to be; null if it is free.
    private final TokenConstraint inner;

    private final Marks marks;
    private State state;
    /// How many tokens of reasoning are left, in all channels.
    private int left;

    /// The end of the reply so far, as bytes.
    private final StringBuilder text = new StringBuilder();
    /// How many of the closing tokens are there.
    private int closed;

    private int last = -1;

    private enum State {
        BEFORE,
        REASONING,
        CLOSING,
        AFTER
    }

    /// Marks of reasoning.
    ///
    /// @param open what begins it, as bytes
    /// @param close what ends it, as bytes
    /// @param closing tokens of the message and what ends reasoning
    /// @param opening the first tokens of what begins it, where it may begin again; else empty
    private record Marks(String open, String close, int[] closing, int[] opening) {}

    private ReasoningBudget(Tokenizer tokenizer, TokenConstraint inner, Marks marks, State state, int left) {
        this.tokenizer = tokenizer;
        this.inner = inner;
        this.marks = marks;
        this.state = state;
        this.left = left;
    }

    /// {@return the budget of one reply}
    ///
    /// @param tokens most tokens of its reasoning
    /// @param message what stands before the mark that ends it
    /// @param format how the model writes
    /// @param thinking whether the reply begins inside its reasoning
    /// @param tokenizer the model's
    /// @param inner what else the reply has to be; null if it is free
    static ReasoningBudget of(
            int tokens,
            String message,
            TemplateFormat format,
            boolean thinking,
            Tokenizer tokenizer,
            TokenConstraint inner) {
        boolean channels = format.calls().shape() instanceof Channels;
        String close = channels ? "<|end|>" : format.thought();
        int[] end = tokenizer.encode(channels ? "<|end|><|start|>assistant" : close, false, true);
        int[] closing = message.isEmpty()
                ? end
                : IntStream.concat(IntStream.of(tokenizer.encode(message, false, false)), IntStream.of(end))
                        .toArray();
        int[] opening = channels ? tokenizer.encode("<|channel|>analysis", false, true) : new int[0];
        String open = channels ? "<|channel|>analysis<|message|>" : format.think();
        Marks marks = new Marks(bytes(open), bytes(close), closing, opening);
        ReasoningBudget budget =
                new ReasoningBudget(tokenizer, inner, marks, thinking ? State.REASONING : State.BEFORE, tokens);
        budget.closeIfSpent();
        return budget;
    }

    private static String bytes(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    @Override
    public void mask(long[] words) {
        if (state == State.CLOSING) {
            Arrays.fill(words, 0);
            int next = marks.closing[closed];
            words[next / Long.SIZE] = 1L << next;
            return;
        }
        if (inner != null) {
            inner.mask(words);
        } else {
            TokenMasks.allowAll(words, tokenizer.vocabularySize());
        }
        if (spent() && last == marks.opening[0]) {
            words[marks.opening[1] / Long.SIZE] &= ~(1L << marks.opening[1]);
        }
    }

    /// {@return whether no reasoning may begin again}
    private boolean spent() {
        return marks.opening.length > 1 && left <= 0;
    }

    @Override
    public void accept(int token) {
        if (inner != null) {
            inner.accept(token);
        }
        last = token;
        text.append(
                tokenizer.isControl(token)
                        ? bytes(tokenizer.piece(token))
                        : new String(tokenizer.bytes(token), StandardCharsets.ISO_8859_1));
        switch (state) {
            case BEFORE -> begin();
            case REASONING -> {
                left--;
                if (text.indexOf(marks.close) >= 0) {
                    become(State.AFTER);
                }
            }
            case CLOSING -> {
                boolean right = token == marks.closing[closed];
                closed = right ? closed + 1 : 0;
                if (!right) {
                    state = State.REASONING; // what else the reply has to be came before
                } else if (closed == marks.closing.length) {
                    become(State.AFTER);
                }
            }
            case AFTER -> {
                if (marks.opening.length > 0 && text.indexOf(marks.open) >= 0) {
                    become(State.REASONING);
                }
            }
        }
        text.delete(0, Math.max(0, text.length() - KEPT));
        closeIfSpent();
    }

    private void begin() {
        String begun = text.toString().stripLeading();
        if (begun.startsWith(marks.open)) {
            become(State.REASONING);
        } else if (!marks.open.startsWith(begun)) {
            state = State.AFTER;
        }
    }

    private void become(State next) {
        state = next;
        text.setLength(0);
    }

    private void closeIfSpent() {
        if (state == State.REASONING && left <= 0 && (left < -LONGEST_MARK || isWhole() && !closesItself())) {
            state = State.CLOSING;
            closed = 0;
        }
    }

    /// {@return whether the text ends with a part of what ends reasoning, of several tokens}
    private boolean closesItself() {
        return IntStream.range(1, Math.min(text.length() + 1, marks.close.length()))
                .anyMatch(length -> marks.close.startsWith(text.substring(text.length() - length)));
    }

    /// {@return whether the text ends with a whole character}
    private boolean isWhole() {
        int following = 0;
        for (int i = text.length() - 1; i >= 0; i--) {
            char each = text.charAt(i);
            if (each < 0x80 || each >= 0xC0) {
                int needed = each < 0x80 ? 0 : each < 0xE0 ? 1 : each < 0xF0 ? 2 : 3;
                return following >= needed;
            }
            following++;
        }
        return true;
    }

    @Override
    public boolean isComplete() {
        return state != State.CLOSING && (inner == null || inner.isComplete());
    }

    @Override
    public boolean isEnded() {
        return state != State.CLOSING && inner != null && inner.isEnded();
    }

    @Override
    public int[] forced() {
        if (state == State.CLOSING) {
            return Arrays.copyOfRange(marks.closing, closed, marks.closing.length);
        }
        return inner == null ? new int[0] : inner.forced();
    }

    @Override
    public int unmasked() {
        int free = switch (state) {
            case BEFORE -> spent() ? 0 : Math.max(1, left);
            case REASONING -> Math.max(0, left);
            case CLOSING -> 0;
            case AFTER -> marks.opening.length == 0 ? Integer.MAX_VALUE : Math.max(0, left);
        };
        return inner == null ? free : Math.min(free, inner.unmasked());
    }

    @Override
    public boolean quick(boolean wanted) {
        return inner == null || inner.quick(wanted);
    }

    @Override
    public TokenConstraint copy() {
        ReasoningBudget copy = new ReasoningBudget(tokenizer, inner == null ? null : inner.copy(), marks, state, left);
        copy.text.append(text);
        copy.closed = closed;
        copy.last = last;
        return copy;
    }
}
