package dev.tenon.platform.core.control;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Asks architectures for models, and for chat templates.
public final class Definitions {
    /// Key of a file's chat template.
    public static final String TEMPLATE = "tokenizer.chat_template";

    private static final Logger LOG = LoggerFactory.getLogger(Definitions.class);

    private Definitions() {}

    /// {@return the chat template of a file: what its architecture gives, or else its own}
    ///
    /// @param architectures those that are offered
    /// @param metadata the file's
    public static Optional<String> chatTemplate(List<ModelArchitecture> architectures, GgufMetadata metadata) {
        return givenTemplate(architectures, metadata).or(() -> metadata.string(TEMPLATE));
    }

    /// {@return the chat template that takes the place of those of a file}
    ///
    /// @param architectures those that are offered
    /// @param metadata the file's
    public static Optional<String> givenTemplate(List<ModelArchitecture> architectures, GgufMetadata metadata) {
        Optional<String> id = metadata.string("general.architecture");
        for (ModelArchitecture architecture : architectures) {
            try {
                if (id.equals(Optional.of(architecture.id()))) {
                    return architecture.chatTemplate(metadata);
                }
            } catch (RuntimeException | LinkageError e) {
                LOG.warn(
                        "{} fails to give a chat template; that of {} is used, if it has one",
                        Origins.of(architecture),
                        metadata.source(),
                        e);
            }
        }
        return Optional.empty();
    }

    /// {@return what architectures and encoders look at of a file}
    ///
    /// @param file the file
    /// @param contextLength how long sequences may become; 0 for as long as the file says
    /// @param rowWidth elements of the rows that come in the place of embeddings; 0 where none come
    public static ModelSource source(GgufFile file, int contextLength, int rowWidth) {
        return source(file, file.metadata(), contextLength, rowWidth);
    }

    private static ModelSource source(GgufFile file, GgufMetadata metadata, int contextLength, int rowWidth) {
        Map<String, TensorInfo> tensors =
                file.tensors().stream().collect(Collectors.toMap(TensorInfo::name, Function.identity()));
        return new ModelSource(metadata, tensors, contextLength, rowWidth);
    }

    /// {@return the keys under the name of a file's architecture that neither the architecture nor the platform
    ///     reads, in file order: such as those that a newer version would read; none for a file that the
    ///     architecture refuses. Defines the model to find out}
    ///
    /// @param architecture the architecture
    /// @param file the file
    public static List<String> unreadKeys(ModelArchitecture architecture, GgufFile file) {
        Set<String> read = new HashSet<>();
        read.add(architecture.id() + ".vocab_size"); // in most files; the embedding's rows say it
        GgufMetadata metadata = file.metadata().recording(read);
        ModelSource source = source(file, metadata, 0, 0);
        String name = file.path().getFileName().toString();
        try {
            of(architecture, source, name);
            head(architecture, source, name);
            ModelPurpose.of(metadata);
            ModelPurpose.labels(metadata);
        } catch (TenonException e) {
            LOG.debug("{} tells no unread keys: {}", name, e.getMessage());
            return List.of();
        }
        return metadata.values().keySet().stream()
                .filter(key -> key.startsWith(architecture.id() + ".") && !read.contains(key))
                .toList();
    }

    /// {@return the model that an architecture makes of a file}
    ///
    /// @param architecture the architecture
    /// @param source the file's metadata and tensors
    /// @param file what messages call the file
    /// @throws TenonException what the architecture says of the file; or (`MODEL-011`), naming its bundle, how it
    ///     failed instead
    public static ModelDefinition of(ModelArchitecture architecture, ModelSource source, String file) {
        return asked(architecture, file, () -> architecture.define(source));
    }

    /// {@return the head for further tokens that an architecture makes of a file, if it has one}
    ///
    /// @param architecture the architecture
    /// @param source the file's metadata and tensors
    /// @param file what messages call the file
    /// @throws TenonException as above
    public static Optional<Graph> head(ModelArchitecture architecture, ModelSource source, String file) {
        return asked(architecture, file, () -> architecture.head(source));
    }

    private static <T> T asked(ModelArchitecture architecture, String file, Supplier<T> question) {
        try {
            return question.get();
        } catch (TenonException e) {
            throw e;
        } catch (RuntimeException | LinkageError | StackOverflowError e) {
            String problem = e instanceof IllegalArgumentException && e.getMessage() != null
                    ? e.getMessage()
                    : "its code fails with " + e;
            throw new UnsupportedModelException(
                    file + " cannot be loaded",
                    List.of(Issue.error(
                            ErrorCode.MODEL_GRAPH,
                            architecture.id() + " (" + Origins.of(EncoderArchitecture.service(architecture))
                                    + ") defines no sound model: " + problem
                                    + ". Install a version of the bundle without this fault",
                            architecture.id())),
                    e);
        }
    }
}
