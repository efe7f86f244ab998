package dev.tenon.api.engine;

import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.media.MediaKind;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Sound;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.Tokenizer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.osgi.annotation.versioning.ProviderType;

/// A model that is loaded and placed on a device. Whoever loaded it closes it. Safe for any thread.
@ProviderType
public interface LoadedModel extends AutoCloseable {
    /// {@return hyperparameters}
    ModelConfig config();

    /// {@return the mapped file; owned by the model}
    GgufFile file();

    /// {@return positions that a session may have}
    int contextLength();

    /// {@return the tokenizer}
    /// @throws dev.tenon.api.error.TenonException if the file has none or a broken one
    Tokenizer tokenizer();

    /// {@return the chat template, if the file has one or its architecture gives one}
    /// @throws dev.tenon.api.error.TenonException (`MODEL-009`) if nothing installed compiles it, or it is
    ///     broken
    Optional<ChatTemplate> chatTemplate();

    /// {@return the text of the [chat template][#chatTemplate()]}
    default Optional<String> chatTemplateSource() {
        return file().metadata().string("tokenizer.chat_template");
    }

    /// {@return one of the further chat templates of the file, such as `tool_use`, if it has it}
    ///
    /// @param name its name, one of `tokenizer.chat_templates`
    /// @throws dev.tenon.api.error.TenonException (`MODEL-009`) as [#chatTemplate()]
    default Optional<ChatTemplate> chatTemplate(String name) {
        return Optional.empty();
    }

    /// {@return id of the backend that runs it now}
    String backend();

    /// {@return the device that runs it now}
    DeviceInfo device();

    /// {@return how it was compiled}
    PlanReport report();

    /// {@return what measures the single kernels of the plan that runs now, if its backend can do
    ///     that. A model that is placed again has another one}
    default Optional<PlanProfiler> profiler() {
        return Optional.empty();
    }

    /// {@return nanoseconds that loading took: mapping, checking, compiling}
    long loadNanos();

    /// {@return the outputs that the model was loaded with and the number of elements in their rows, the
    ///     default one first; unmodifiable}
    Map<String, Integer> outputs();

    /// Embeds texts: runs each on its own and makes one vector of its hidden states. Blocks. Uses as many
    /// sequences as there are texts and are free, at least one, and releases them.
    ///
    /// @param request the texts as tokens, and how to pool
    /// @return one vector for each text, `[embeddingLength]` or as wide as the output
    ///     [dev.tenon.api.graph.Graph#EMBEDDING], in their order; owned by the caller
    /// @throws dev.tenon.api.error.TenonException (`STATE-002`) if the model was loaded without
    ///     [dev.tenon.api.graph.Graph#EMBEDDING] and [dev.tenon.api.graph.Graph#HIDDEN], without the latter and
    ///     the request names another pooling than the file, or if it is a reranker and the request names none
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-001`) if a text does not fit the context,
    ///     (`LIMIT-002`) if all sequences are taken
    /// @throws dev.tenon.api.error.TenonException (`STATE-004`) if the thread is interrupted; it stays so
    List<float[]> embed(EmbeddingRequest request);

    /// Scores documents by how well they answer a query: runs each with the query, as the model's file asks
    /// (`tokenizer.chat_template.rerank`, or both with the special tokens between them). Blocks, and takes
    /// sequences as [#embed] does.
    ///
    /// @param request query and documents
    /// @return a score for each document, in their order, the higher the better: of models with one label as
    ///     the model gives it, of those with several the probability of `yes`, or of the first one; owned by
    ///     the caller
    /// @throws dev.tenon.api.error.TenonException (`STATE-002`) if the model was loaded without
    ///     [dev.tenon.api.graph.Graph#SCORES]
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-001`) if the query and a document do not fit
    ///     the context, (`LIMIT-002`) if all sequences are taken
    /// @throws dev.tenon.api.error.TenonException (`STATE-004`) if the thread is interrupted; it stays so
    float[] rerank(RerankRequest request);

    /// {@return what it takes beside text: by the encoder of the companion that it was loaded with; unmodifiable}
    default Set<MediaKind> media() {
        return Set.of();
    }

    /// Encodes a picture for prompts. Blocks. What was encoded before may be known still.
    ///
    /// @param picture the picture, upright
    /// @return the tokens and rows that stand in its place
    /// @throws dev.tenon.api.error.TenonException (`STATE-002`) if the model takes no pictures, or not this one
    /// @throws dev.tenon.api.error.BackendException if the backend failed or was withdrawn
    default PromptMedia encode(Picture picture) {
        throw new TenonException(
                ErrorCode.ARGUMENT,
                file().path().getFileName() + " was loaded without an encoder of pictures. Load it with the companion"
                        + " file (mmproj) of a model that sees.");
    }

    /// Encodes a sound for prompts. Blocks.
    ///
    /// @param sound the sound
    /// @return the tokens and rows that stand in its place
    /// @throws dev.tenon.api.error.TenonException (`STATE-002`) if the model takes no sounds, or not this one
    /// @throws dev.tenon.api.error.BackendException if the backend failed or was withdrawn
    default PromptMedia encode(Sound sound) {
        throw new TenonException(
                ErrorCode.ARGUMENT,
                file().path().getFileName() + " was loaded without an encoder of sounds. Load it with the companion"
                        + " file (mmproj) of a model that hears.");
    }

    /// Opens a session. The caller closes it.
    ///
    /// @return an empty sequence
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-002`) if all sequences are taken
    Session newSession();

    /// Ends all sessions, then releases device memory and mapping. Calling it twice does nothing.
    @Override
    void close();
}
