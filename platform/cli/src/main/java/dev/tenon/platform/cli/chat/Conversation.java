package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.chat.Chats;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/// A conversation and the session that holds its keys and values.
///
/// Each turn renders the whole conversation. If that text continues what the session holds, only
/// the rest is evaluated; otherwise (a template that strips or rewrites earlier turns, a cleared or
/// repeated turn) the session is cut back to the longest common run of tokens and the rest is
/// evaluated again. When the context is full, the oldest turns leave. Not safe for several threads.
final class Conversation {
    private final LoadedModel model;
    private final Chats chats = new Chats();
    /// Of the last message.
    private ChatModel chat;
    private final Session session;
    private final UnaryOperator<ChatRequest> limits;
    private final List<ChatTurn> messages = new ArrayList<>();
    /// The turns of which the last prompt was made; null if there is none.
    private List<ChatTurn> written;

    private ChatPrompt prompt;
    private int[] held = {};
    private String heldText;
    private int turnsLeft;

    Conversation(LoadedModel model, Session session) {
        this(model, session, request -> request);
    }

    /// @param limits limits what answers may be
    Conversation(LoadedModel model, Session session, UnaryOperator<ChatRequest> limits) {
        this.model = model;
        this.session = session;
        this.limits = limits;
    }

    /// {@return the turns so far, system message included}
    List<ChatTurn> messages() {
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
            messages.add(ChatTurn.system(text));
        }
    }

    /// Replaces all messages.
    ///
    /// @param others system message and turns
    void replace(List<ChatTurn> others) {
        messages.clear();
        messages.addAll(others);
    }

    /// {@return the system message, or an empty string}
    String system() {
        return messages.isEmpty() || !messages.getFirst().role().equals("system")
                ? ""
                : messages.getFirst().text();
    }

    /// {@return the last message of the user, if there is one}
    Optional<ChatTurn> lastMessage() {
        return messages.reversed().stream().filter(m -> m.role().equals("user")).findFirst();
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
        return messages.removeLast().text();
    }

    /// {@return how many turns left because of the last message: the context was full}
    int turnsLeft() {
        return turnsLeft;
    }

    /// Sends a message and receives the answer. If that fails, the conversation is unchanged.
    ///
    /// When the context has too little room for the message and an answer, or becomes full while
    /// the answer comes, the oldest turns leave until half of it is free, and the answer goes on.
    /// The system message and the new one stay.
    ///
    /// @param message the user's
    /// @param asked how to answer, but for the prompt. An answer with a constraint ends where the context is full
    /// @param listener hears the generation, but for its text
    /// @param events hears the answer's text and reasoning
    /// @return counts and times
    /// @throws OutOfResourcesException (`LIMIT-001`) if the message does not fit the context even
    ///     alone
    Usage send(ChatTurn message, GenerationRequest asked, GenerationListener listener, ChatEvents events) {
        int limit = asked.maxNewTokens();
        List<ChatTurn> former = List.copyOf(messages);
        turnsLeft = 0;
        chat = chats.of(model);
        written = null;
        messages.add(message);
        boolean sent = false;
        try {
            Recorder recorder = new Recorder(model.tokenizer(), listener, events);
            Usage usage = generate(asked, recorder);
            while (StopNote.contextFull(usage, limit)
                    && turns() > 1
                    && asked.constraint().isEmpty()) {
                SamplingParams more = asked.sampling().toBuilder()
                        .seed(asked.sampling().seed() + usage.generatedTokens())
                        .build();
                int most = limit < 0 ? limit : limit - usage.generatedTokens();
                GenerationRequest rest =
                        asked.toBuilder().sampling(more).maxNewTokens(most).build();
                usage = sum(usage, generate(rest, recorder));
            }
            messages.add(recorder.end(usage).turn());
            sent = true;
            return usage;
        } finally {
            if (!sent) {
                replace(former);
                turnsLeft = 0;
                forgetUnknown();
            }
        }
    }

    /// Generates the answer to the last message, or more of it.
    private Usage generate(GenerationRequest asked, Recorder recorder) {
        int[] rest = rest(asked.maxNewTokens(), recorder);
        int before = held.length;
        int heard = recorder.tokens().length;
        ChatPrompt prompt = prompt(messages);
        recorder.readBy(told -> chat.reader(request(messages), prompt, told));
        heldText = null;
        GenerationRequest.Builder next = asked.toBuilder().prompt(rest).media(prompt.media());
        if (asked.constraint().isEmpty() && heard == 0) { // later the reasoning may be over
            next.constraint(chat.constraint(request(messages), prompt).orElse(null));
        }
        Usage usage = session.generate(next.build(), recorder);
        int[] all = recorder.tokens();
        remember(prompt.text(), before, rest, Arrays.copyOfRange(all, heard, all.length), recorder, usage);
        return usage;
    }

    private static Usage sum(Usage a, Usage b) {
        return new Usage(
                a.promptTokens() + b.promptTokens(),
                a.cachedTokens(),
                a.generatedTokens() + b.generatedTokens(),
                a.prefillNanos(),
                a.decodeNanos() + b.prefillNanos() + b.decodeNanos(),
                b.finish(),
                a.draftedTokens() + b.draftedTokens(),
                a.acceptedTokens() + b.acceptedTokens());
    }

    /// The tokens that the session lacks, after cutting it back where that is needed.
    private int[] rest(int limit, Recorder recorder) {
        int context = model.contextLength();
        int spare = limit < 0 ? context / 4 : Math.min(limit, context / 4);
        ChatPrompt prompt = fitting(messages);
        if (heldText != null
                && prompt != null
                && prompt.text().length() > heldText.length()
                && prompt.text().startsWith(heldText)
                && prompt.text().indexOf(MediaPart.PLACE, heldText.length()) < 0) {
            int[] rest = after(prompt, heldText.length());
            if (held.length + rest.length + spare <= context) {
                return rest;
            }
        }
        int[] reply = recorder.tokens();
        int[] all = prompt == null ? null : with(reply, prompt);
        if (all == null || all.length + spare > context) {
            all = leave(all, reply);
        }
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

    /// Makes the oldest turns leave until half of the context is free, or only the last one is
    /// there.
    ///
    /// @param all all tokens, or null if they are far too many
    /// @param reply tokens of the answer so far
    /// @return the tokens of what stays
    private int[] leave(int[] all, int[] reply) {
        int context = model.contextLength();
        int most = turns() - 1;
        int count = Math.min(1, most);
        // The number that is enough lies from count to most.
        for (int enough = most; count < enough; ) {
            int middle = (count + enough) / 2;
            int[] left = tokens(middle, reply);
            if (left != null && left.length <= context / 2) {
                enough = middle;
            } else {
                count = middle + 1;
            }
        }
        int[] left = count == 0 ? all : tokens(count, reply);
        if (left == null || left.length >= context) {
            int tokens = left == null ? prompt(without(most)).tokens().length : left.length;
            throw new OutOfResourcesException(
                    ErrorCode.CONTEXT_LENGTH,
                    "The message has " + tokens + " tokens with the chat template; the context holds " + context
                            + ". Shorten it, or load the model with a larger context (-c).",
                    tokens,
                    0,
                    context);
        }
        List<ChatTurn> stay = without(count);
        replace(stay);
        turnsLeft += count;
        return left;
    }

    /// The tokens of the conversation without its oldest turns, or null if they do not fit the context.
    private int[] tokens(int without, int[] reply) {
        ChatPrompt prompt = fitting(without(without));
        return prompt == null ? null : with(reply, prompt);
    }

    /// The prompt of messages, or null if it does not fit the context.
    private ChatPrompt fitting(List<ChatTurn> turns) {
        try {
            return prompt(turns);
        } catch (OutOfResourcesException e) {
            if (!e.code().equals(ErrorCode.CONTEXT_LENGTH)) {
                throw e;
            }
            return null;
        }
    }

    private ChatPrompt prompt(List<ChatTurn> turns) {
        if (!turns.equals(written)) { // else pictures would be decoded again
            prompt = Prompts.prompt(chat, request(turns));
            written = List.copyOf(turns);
        }
        return prompt;
    }

    private ChatRequest request(List<ChatTurn> turns) {
        return limits.apply(ChatRequest.builder().turns(turns).build());
    }

    private static int[] with(int[] reply, ChatPrompt prompt) {
        int[] all = Arrays.copyOf(prompt.tokens(), prompt.tokens().length + reply.length);
        System.arraycopy(reply, 0, all, prompt.tokens().length, reply.length);
        return all;
    }

    /// The tokens of a prompt's text from an index on.
    private int[] after(ChatPrompt prompt, int index) {
        int[] borders = Arrays.stream(prompt.borders())
                .filter(border -> border > index)
                .map(border -> border - index)
                .toArray();
        return model.tokenizer().encode(prompt.text().substring(index), false, borders);
    }

    /// The messages without the oldest turns; the system message stays.
    private List<ChatTurn> without(int count) {
        List<ChatTurn> stay = new ArrayList<>();
        int turn = 0;
        for (ChatTurn message : messages) {
            turn += message.role().equals("user") ? 1 : 0;
            if (message.role().equals("system") || turn > count) {
                stay.add(message);
            }
        }
        return stay;
    }

    /// {@return how many messages of the user there are}
    int turns() {
        return (int) messages.stream().filter(m -> m.role().equals("user")).count();
    }

    private void remember(String rendered, int before, int[] rest, int[] reply, Recorder recorder, Usage usage) {
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
        heldText = whole && usage.finish() != FinishReason.LENGTH ? rendered + recorder.written() : null;
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
}
