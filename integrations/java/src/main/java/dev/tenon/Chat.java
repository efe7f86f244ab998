package dev.tenon;

import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.engine.Session;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A conversation: it keeps the turns, and each answer is one more. For one thread at a time.
///
/// There is nothing to close. What the model computed of earlier turns is used again as long as the
/// model's memory holds it.
public final class Chat {
    private final Model model;
    private final List<ChatTurn> turns = new ArrayList<>();
    private final List<Object> owners = new ArrayList<>();
    private MethodTools tools = MethodTools.of(List.of());
    /// What the first answer begins with, unless the model's memory is all that there is.
    private @Nullable Path state;

    Chat(Model model) {
        this.model = model;
    }

    /// Adds a turn that says how the model is to behave.
    ///
    /// @param text what it says
    /// @return this
    public Chat system(String text) {
        turns.add(ChatTurn.system(text));
        return this;
    }

    /// Offers the methods of objects that have a [Description] to the model, which may call them to
    /// answer.
    ///
    /// @param objects what has such methods; called on the thread that generates
    /// @return this
    /// @throws IllegalArgumentException if one has no such method, or two have a name in
    ///     common, or a parameter's type has no schema
    public Chat tools(Object... objects) {
        List<Object> all = new ArrayList<>(owners);
        all.addAll(List.of(objects));
        tools = MethodTools.of(all);
        owners.addAll(List.of(objects));
        return this;
    }

    /// Begins a request that answers a message. The conversation changes when it is answered.
    ///
    /// @param text the message
    /// @return a request with the defaults
    public TextRequest message(String text) {
        return new TextRequest(model, new Answer(this, text, tools));
    }

    /// {@return the turns so far, oldest first; a copy}
    public List<ChatTurn> turns() {
        return List.copyOf(turns);
    }

    /// Counts the tokens of the conversation, as the model would read it.
    ///
    /// @return how many; 0 while there are no turns
    public int countTokens() {
        return turns.isEmpty()
                ? 0
                : model.chatModel().count(ChatRequest.builder().turns(turns).build());
    }

    /// Writes the turns, to go on later, with this model or another ([Model#chat(Path)]).
    ///
    /// @param file a file, which is replaced if it is there
    /// @throws dev.tenon.api.error.TenonException (`IO-001`) if it cannot be written; a file
    ///     that was there stays as it was
    public void save(Path file) {
        SavedTurns.write(file, turns);
    }

    /// Writes the turns, and what the model computed of them up to the first picture or sound, to go on
    /// later without running that again ([Model#chat(Path,Path)]). Blocks, and waits for its turn as requests do.
    ///
    /// @param file as above
    /// @param state a file, which is replaced if it is there; a few to hundreds of kilobytes a token
    /// @throws dev.tenon.api.error.TenonException (`IO-001`) if one cannot be written; as
    ///     [dev.tenon.api.engine.Session#generate]
    public void save(Path file, Path state) {
        save(file);
        ChatRequest request =
                ChatRequest.builder().turns(turns).tools(tools.declared()).build();
        SavedState.write(
                model,
                turns.isEmpty() ? new int[0] : model.chatModel().prompt(request).tokens(),
                state);
    }

    Model model() {
        return model;
    }

    /// Begins an answer with what was computed before, the first one.
    void restore(Session session) {
        Path from = state;
        state = null;
        if (from != null) {
            SavedState.restore(model, session, from);
        }
    }

    Chat state(Path from) {
        state = from;
        return this;
    }

    Chat turns(List<ChatTurn> all) {
        turns.clear();
        turns.addAll(all);
        return this;
    }
}
