package dev.tenon.platform.cli.chat;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.ChatMessage;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// A conversation and the session that holds its keys and values.
///
/// Each turn renders the whole conversation. If that text continues what the session holds, only
/// the rest is evaluated; otherwise (a template that strips or rewrites earlier turns, a cleared or
/// repeated turn) the session is cut back to the longest common run of tokens and the rest is
/// evaluated again. Not safe for several threads.
final class Conversation {
    private final LoadedModel model;
    private final Session session;
    private final List<ChatMessage> messages = new ArrayList<>();
    private int[] held = {};
    private String heldText;

    Conversation(LoadedModel model, Session session) {
        this.model = model;
        this.session = session;
    }

    /// {@return the turns so far, system message included}
    List<ChatMessage> messages() {
        return List.copyOf(messages);
    }

    /// Forgets all turns but the system message.
    void clear() {
        messages.removeIf(m -> !m.role().equals("system"));
    }

    /// Forgets all turns and sets the system message.
    ///
    /// @param text the message, or an empty string for none
    void system(String text) {
        messages.clear();
        if (!text.isEmpty()) {
            messages.add(new ChatMessage("system", text));
        }
    }

    /// Removes the last answer and its question.
    ///
    /// @return the question, or null when there is none
    String takeBack() {
        if (messages.isEmpty() || messages.getLast().role().equals("system")) {
            return null;
        }
        if (messages.getLast().role().equals("assistant")) {
            messages.removeLast();
        }
        return messages.removeLast().content();
    }

    /// Sends a message and receives the answer. If that fails, the conversation is unchanged.
    ///
    /// @param text the user's message
    /// @param params how to choose tokens
    /// @param limit most tokens to generate; -1 until the context is full
    /// @param stop texts that end the answer
    /// @param listener hears the answer
    /// @return counts and times
    Usage send(String text, SamplingParams params, int limit, List<String> stop, GenerationListener listener) {
        messages.add(new ChatMessage("user", text));
        boolean sent = false;
        try {
            String rendered = Prompts.render(model, messages);
            int[] rest = rest(rendered);
            int before = held.length;
            Recorder recorder = new Recorder(model.tokenizer(), listener);
            heldText = null;
            Usage usage = session.generate(
                    GenerationRequest.builder()
                            .prompt(rest)
                            .sampling(params)
                            .maxNewTokens(limit)
                            .stop(stop)
                            .build(),
                    recorder);
            messages.add(new ChatMessage("assistant", recorder.shown.toString()));
            sent = true;
            remember(rendered, before, rest, recorder, usage);
            return usage;
        } finally {
            if (!sent) {
                messages.removeLast();
                forgetUnknown();
            }
        }
    }

    /// The tokens that the session lacks, after cutting it back where that is needed.
    private int[] rest(String rendered) {
        Prompts.checkLength(model, rendered);
        Tokenizer tokenizer = model.tokenizer();
        if (heldText != null && rendered.length() > heldText.length() && rendered.startsWith(heldText)) {
            return tokenizer.encode(rendered.substring(heldText.length()), false, true);
        }
        int[] all = Prompts.encodeRendered(tokenizer, rendered);
        int mismatch = Arrays.mismatch(all, held);
        int common = mismatch < 0 ? all.length : mismatch;
        common = Math.min(common, all.length - 1);
        common = Math.max(common, 0);
        if (common < session.length()) {
            session.truncate(common);
        }
        held = Arrays.copyOf(held, common);
        return Arrays.copyOfRange(all, common, all.length);
    }

    private void remember(String rendered, int before, int[] rest, Recorder recorder, Usage usage) {
        int[] reply = recorder.tokens.stream().mapToInt(Integer::intValue).toArray();
        int expected = before + rest.length + reply.length;
        held = Arrays.copyOf(held, expected);
        System.arraycopy(rest, 0, held, before, rest.length);
        System.arraycopy(reply, 0, held, before + rest.length, reply.length);
        int length = session.length();
        if (length > expected) {
            session.truncate(expected);
        } else if (length < expected) {
            held = Arrays.copyOf(held, length);
        }
        boolean whole = length >= expected && recorder.endedWhole();
        heldText = whole && usage.finish() != FinishReason.LENGTH ? rendered + recorder.written : null;
    }

    /// After a failure it is unknown what the session holds beyond its former tokens: cut it back
    /// to those.
    private void forgetUnknown() {
        if (session.length() > held.length) {
            session.truncate(held.length);
        } else if (session.length() < held.length) {
            held = Arrays.copyOf(held, session.length());
        }
        heldText = null;
    }

    /// Forwards an answer and records its tokens, and its text with control tokens written out.
    private static final class Recorder implements GenerationListener {
        private final Tokenizer tokenizer;
        private final StreamDecoder decoder;
        private final GenerationListener next;
        private final List<Integer> tokens = new ArrayList<>();
        private final StringBuilder written = new StringBuilder();
        private final StringBuilder shown = new StringBuilder();

        Recorder(Tokenizer tokenizer, GenerationListener next) {
            this.tokenizer = tokenizer;
            this.decoder = tokenizer.decoder();
            this.next = next;
        }

        @Override
        public void onToken(GeneratedToken token) {
            int id = token.id();
            tokens.add(id);
            if (tokenizer.isControl(id)) {
                written.append(decoder.finish()).append(tokenizer.piece(id));
            } else {
                written.append(decoder.next(id));
            }
            next.onToken(token);
        }

        @Override
        public void onText(String text) {
            shown.append(text);
            next.onText(text);
        }

        @Override
        public void onPrefill(int done, int total) {
            next.onPrefill(done, total);
        }

        @Override
        public void onMoved(String reason) {
            next.onMoved(reason);
        }

        /// Whether the text ends with a whole character.
        boolean endedWhole() {
            return decoder.finish().isEmpty();
        }
    }
}
