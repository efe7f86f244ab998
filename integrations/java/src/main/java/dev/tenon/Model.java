package dev.tenon;

import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.RerankRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.chat.Chats;
import dev.tenon.platform.chat.MediaPrompts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/// A loaded model. Whoever loaded it closes it. Safe for any thread, platform or virtual: requests
/// of several threads run in the same steps, and wait for their turn where there are more than
/// [ModelLoader#requests].
public final class Model implements AutoCloseable {
    private final LoadedModel loaded;
    private final SharedEngine.Use engine;
    private final Chats chats = new Chats();
    private final Places places;
    private final Map<String, Float> adapters;
    private volatile boolean closed;

    Model(LoadedModel loaded, int requests, Map<String, Float> adapters, SharedEngine.Use engine) {
        this.loaded = loaded;
        this.engine = engine;
        this.adapters = Map.copyOf(adapters);
        this.places = new Places(requests);
    }

    /// Begins a request that continues a text, without the model's template.
    ///
    /// @param text what is continued
    /// @return a request with the defaults
    public TextRequest completion(String text) {
        return new TextRequest(this, new Completion(this, text));
    }

    /// Begins a request that answers a message, by the model's template, without a conversation
    /// before it.
    ///
    /// @param text the message
    /// @return a request with the defaults
    public TextRequest message(String text) {
        return chat().message(text);
    }

    /// Begins a request that replies to a conversation which the caller keeps, with tools that the
    /// caller calls.
    ///
    /// With a format and tools that may be called, the reply either calls some or is of the format:
    /// the model is asked freely first, and that reply's text is not told. A schema is also told to
    /// the model, at the end of the last turn of the user.
    ///
    /// @param request all turns, tools and their choice, format
    /// @return a request with the defaults; its format takes the place of the conversation's, its
    ///     variables are added to those
    public TextRequest request(ChatRequest request) {
        return new TextRequest(this, new Reply(this, request));
    }

    /// Begins a conversation.
    ///
    /// @return a conversation without turns
    public Chat chat() {
        return new Chat(this);
    }

    /// Goes on with a conversation that [Chat#save(Path)] wrote.
    ///
    /// @param file the file
    /// @return the conversation
    /// @throws TenonException (`IO-001`) if it cannot be read, or is no conversation
    public Chat chat(Path file) {
        return new Chat(this).turns(SavedTurns.read(file));
    }

    /// Goes on with a conversation that [Chat#save(Path,Path)] wrote. Its first answer runs only
    /// what is new. Where what was computed is not there, damaged, or of another model or backend,
    /// the log says so and all turns are run.
    ///
    /// @param file the turns
    /// @param state what was computed of them; read when the first answer begins
    /// @return the conversation
    /// @throws TenonException (`IO-001`) if the turns cannot be read, or are no conversation
    public Chat chat(Path file, Path state) {
        return chat(file).state(state);
    }

    /// Makes a vector of a text. Blocks.
    ///
    /// @param text at least one token
    /// @return a vector of length 1; the caller's
    /// @throws TenonException as [#embed(List)]
    public float[] embed(String text) {
        return embed(List.of(text)).getFirst();
    }

    /// Makes vectors of texts. Blocks, and waits for its turn as requests do. Of a model that generates text, say
    /// [ModelLoader#embeddings()] when it is loaded.
    ///
    /// @param texts each of at least one token
    /// @return a vector of length 1 for each, in their order; the caller's
    /// @throws TenonException (`STATE-002`) if the model was not loaded for it, or a text is
    ///     empty; as [LoadedModel#embed]
    public List<float[]> embed(List<String> texts) {
        List<int[]> encoded = new ArrayList<>();
        for (String text : texts) {
            int[] tokens = tokens(text);
            if (tokens.length == 0) {
                throw new TenonException(ErrorCode.ARGUMENT, "A text to embed has no tokens. Leave it out.");
            }
            encoded.add(tokens);
        }
        return texts.isEmpty() ? List.of() : places.each(encoded, this::vectors);
    }

    private List<float[]> vectors(List<int[]> texts) {
        EmbeddingRequest.Builder request = EmbeddingRequest.builder();
        texts.forEach(request::text);
        return loaded.embed(request.build());
    }

    /// A document and how well it answers a query.
    ///
    /// @param index its place in the list that was given
    /// @param document the document
    /// @param score the higher the better
    public record Scored(int index, String document, float score) {}

    /// Scores documents by how well they answer a query, with a reranker. Blocks, and waits for its
    /// turn as requests do.
    ///
    /// @param query what is looked for
    /// @param documents the documents
    /// @return all of them, the best first
    /// @throws TenonException (`STATE-002`) if the model is no reranker; as [LoadedModel#rerank]
    public List<Scored> rerank(String query, List<String> documents) {
        if (documents.isEmpty()) {
            return List.of();
        }
        List<Float> scores = places.each(documents, some -> scores(query, some));
        List<Scored> ranked = new ArrayList<>();
        for (int i = 0; i < documents.size(); i++) {
            ranked.add(new Scored(i, documents.get(i), scores.get(i)));
        }
        ranked.sort(Comparator.comparingDouble(Scored::score).reversed());
        return ranked;
    }

    private List<Float> scores(String query, List<String> documents) {
        RerankRequest.Builder request = RerankRequest.builder(query);
        documents.forEach(request::document);
        List<Float> scores = new ArrayList<>();
        for (float score : loaded.rerank(request.build())) {
            scores.add(score);
        }
        return scores;
    }

    /// Counts the tokens of a text.
    ///
    /// @param text the text
    /// @return how many it has, with those that the model begins and ends a text with
    public int countTokens(String text) {
        return tokens(text).length;
    }

    /// {@return what it is called: the name of its file, without the ending}
    public String name() {
        return loaded.file().path().getFileName().toString().replaceFirst("\\.gguf$", "");
    }

    /// {@return how many tokens a request and its answer may have together}
    public int contextLength() {
        return loaded.contextLength();
    }

    /// {@return the model as the engine has it: tokens, sessions, adapters, reports. This
    ///     object closes it}
    public LoadedModel loaded() {
        return loaded;
    }

    /// {@return how it chats: prompts and replies as the engine has them}
    public ChatModel chatModel() {
        return chats.of(loaded);
    }

    int[] tokens(String text) {
        return loaded.tokenizer().encode(text, true, false);
    }

    /// {@return a text, before which the parts stand that find no place in it, as the model takes it}
    MediaPrompts.Encoded prompt(String text, List<MediaPart> media) {
        if (media.isEmpty()) {
            return new MediaPrompts.Encoded(tokens(text), List.of());
        }
        long places = text.chars().filter(each -> each == MediaPart.PLACE).count();
        String before = String.valueOf(MediaPart.PLACE).repeat((int) Math.max(0, media.size() - places));
        return MediaPrompts.encode(loaded, before + text, true, media);
    }

    /// {@return how many requests run now, or texts that are embedded or scored}
    public int runningRequests() {
        return places.taken();
    }

    /// {@return how many requests wait for their turn now, about}
    public int waitingRequests() {
        return places.waiting();
    }

    /// Waits until those requests have ended which were made before: closing the model then cuts no
    /// answer. Blocks.
    ///
    /// @throws InterruptedException if the thread is interrupted
    public void awaitIdle() throws InterruptedException {
        places.awaitIdle();
    }

    /// {@return whether it was closed}
    public boolean isClosed() {
        return closed;
    }

    /// {@return with which scales it was loaded with adapters}
    Map<String, Float> adapters() {
        return adapters;
    }

    Places places() {
        return places;
    }

    /// Ends what runs, and releases the model's memory. Calling it twice does nothing.
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        try {
            loaded.close();
        } finally {
            engine.close();
        }
    }
}
