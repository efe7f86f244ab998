package dev.tenon;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.platform.core.control.ModelPurpose;
import dev.tenon.platform.core.gguf.CompanionFile;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// How a model is loaded. Made by [Tenon#model(String)], for one thread.
public final class ModelLoader {
    /// Sequences of one step: as many as share the memory of one context by default.
    private static final int REQUESTS = 4;

    private final String name;
    private final Map<String, String> settings = new HashMap<>();
    private final Map<String, Float> adapters = new HashMap<>();
    private Consumer<LoadRequest.Builder> how = request -> {};
    private int requests = REQUESTS;
    private boolean embeddings;
    private Progress progress = (file, done, total) -> {};
    private Function<Path, @Nullable Path> companion = file -> null;
    private @Nullable Engine engine;

    ModelLoader(String name) {
        this.name = name;
    }

    /// Sets who hears how far a download is; nobody by default.
    ///
    /// @param listener called on the thread that loads
    /// @return this
    public ModelLoader progress(Progress listener) {
        progress = Objects.requireNonNull(listener, "listener");
        return this;
    }

    /// Sets the backend; the best one that is there by default.
    ///
    /// @param id such as `cpu-vector` or `cuda`
    /// @return this
    public ModelLoader backend(String id) {
        how = how.andThen(request -> request.backend(id));
        return this;
    }

    /// Sets the backend's device; its first one by default.
    ///
    /// @param id as `tenon doctor` lists them
    /// @return this
    public ModelLoader device(String id) {
        how = how.andThen(request -> request.device(id));
        return this;
    }

    /// Sets how many threads compute on the CPU; one for each core by default.
    ///
    /// @param count how many
    /// @return this
    public ModelLoader threads(int count) {
        how = how.andThen(request -> request.threads(count));
        return this;
    }

    /// Sets how many tokens a request and its answer may have together; the model's own limit by
    /// default.
    ///
    /// @param tokens how many
    /// @return this
    public ModelLoader contextLength(int tokens) {
        how = how.andThen(request -> request.contextLength(tokens));
        return this;
    }

    /// Sets how many requests run at once, each with room for a whole context; others wait for
    /// their turn, the first one first. By default four, which share the memory of one context.
    ///
    /// @param count how many
    /// @return this
    public ModelLoader requests(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("requests is " + count + "; expected 1 or more");
        }
        requests = count;
        how = how.andThen(request -> request.maxSequences(count));
        return this;
    }

    /// Lets a model that generates text embed, too. Encoders and rerankers need nothing to be said.
    ///
    /// @return this
    public ModelLoader embeddings() {
        embeddings = true;
        return this;
    }

    /// Adds a low-rank adapter (LoRA), which every request uses unless it says otherwise.
    ///
    /// @param adapter what requests call it
    /// @param file a GGUF file
    /// @param scale the factor on what it adds; 0 to use it only where a request says so
    /// @return this
    public ModelLoader adapter(String adapter, Path file, float scale) {
        how = how.andThen(request -> request.adapter(adapter, file, scale));
        adapters.put(adapter, scale);
        return this;
    }

    /// Has the model take pictures or sounds ([TextRequest#media]), which the encoder of another file reads for it.
    /// Without one it takes text alone.
    ///
    /// @param file GGUF file of the model's encoder, as its publisher calls it often `mmproj`
    /// @return this
    public ModelLoader companion(Path file) {
        Objects.requireNonNull(file, "file");
        companion = model -> file;
        return this;
    }

    /// Has the model take pictures or sounds by the encoder that lies beside its file, where downloads put it.
    ///
    /// @return this
    public ModelLoader companion() {
        companion = model -> CompanionFile.beside(model)
                .orElseThrow(() -> new TenonException(
                        ErrorCode.IO,
                        "Beside " + model + " lies no companion of it, an encoder of pictures or sounds. Name its file:"
                                + " companion(Path)."));
        return this;
    }

    /// Sets a setting of the backend or the engine, as `docs/settings.md` lists them.
    ///
    /// @param setting its name
    /// @param value its value
    /// @return this
    public ModelLoader setting(String setting, String value) {
        settings.put(setting, value);
        return this;
    }

    /// Sets the engine that runs it, such as the service of a framework. By default it is one of
    /// this class loader's, which all models share that are loaded so.
    ///
    /// @param other an engine; stays open when the model is closed
    /// @return this
    public ModelLoader engine(Engine other) {
        engine = Objects.requireNonNull(other, "engine");
        return this;
    }

    /// Downloads the model if it is not on this machine, and loads it. Blocks.
    ///
    /// @return the model; the caller closes it
    /// @throws TenonException (`IO-001`, `IO-002`) if it or its companion cannot be had, and
    ///     why it cannot be loaded ([Engine#load])
    public Model load() {
        SharedEngine.Use use = engine == null ? SharedEngine.use() : new SharedEngine.Use(engine, () -> {});
        try {
            Path file = new ModelSource(use.engine(), progress).find(name);
            LoadRequest.Builder request =
                    LoadRequest.builder(file).settings(settings).companion(companion.apply(file));
            how.accept(request);
            try (GgufFile opened =
                    GgufReader.open(file, TensorTypes.of(use.engine().formats()))) {
                request.outputs(ModelPurpose.of(opened.metadata()).outputs(embeddings));
            }
            LoadedModel loaded = use.engine().load(request.build());
            return new Model(loaded, requests, adapters, use);
        } catch (RuntimeException | Error e) {
            use.close();
            throw e;
        }
    }
}
