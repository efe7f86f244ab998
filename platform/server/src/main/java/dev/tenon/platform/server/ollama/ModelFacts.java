package dev.tenon.platform.server.ollama;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.media.MediaKind;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.core.gguf.CompanionFile;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorType;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.server.models.ModelManager;
import dev.tenon.platform.server.models.ServedModel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/// What a model's file tells without being loaded. Immutable; kept as long as the file stays what it is.
///
/// @param metadata what the file says of itself
/// @param parameters number of its weights
/// @param format the format of most bytes
/// @param bytes size of its files
/// @param modified when it was written
/// @param digest another one for another file; not one of its content, which would have to be read
/// @param template its chat template, or an empty text
/// @param companion the file that lets it see or hear, if it has one
record ModelFacts(
        GgufMetadata metadata,
        long parameters,
        String format,
        long bytes,
        Instant modified,
        String digest,
        String template,
        Optional<CompanionFile> companion) {
    private static final Map<Path, ModelFacts> KNOWN = new ConcurrentHashMap<>();
    private static final int MOST_KNOWN = 1000;

    /// {@return the facts of a model}
    ///
    /// @param manager knows the formats
    /// @param model the model
    /// @throws TenonException if its file cannot be read
    static ModelFacts of(ModelManager manager, ServedModel model) {
        Path path = model.spec().request().path().toAbsolutePath();
        try {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            Instant modified = attributes.lastModifiedTime().toInstant();
            ModelFacts known = KNOWN.get(path);
            if (known != null && known.modified().equals(modified) && known.bytes() == model.bytes()) {
                return known.now(manager, model);
            }
            TensorTypes types = manager.types();
            try (GgufFile file = GgufReader.open(path, types)) {
                ModelFacts facts = new ModelFacts(
                        file.metadata(),
                        file.tensors().stream().mapToLong(TensorInfo::elements).sum(),
                        format(file, types),
                        model.bytes(),
                        modified,
                        digest(path + "\n" + modified + "\n" + model.bytes()),
                        "",
                        Optional.empty());
                if (KNOWN.size() >= MOST_KNOWN) {
                    KNOWN.clear();
                }
                KNOWN.put(path, facts);
                return facts.now(manager, model);
            }
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, path + " cannot be read: " + e.getMessage(), e);
        }
    }

    private static String format(GgufFile file, TensorTypes types) {
        Map<String, Long> bytes = new TreeMap<>();
        for (TensorInfo tensor : file.tensors()) {
            String name = types.find(tensor.ggmlType()).map(TensorType::name).orElse("unknown");
            bytes.merge(name, tensor.sizeBytes(), Long::sum);
        }
        return bytes.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse("unknown");
    }

    private static String digest(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /// {@return the model's architecture}
    String architecture() {
        return metadata.string("general.architecture").orElse("unknown");
    }

    /// {@return the positions that it was made for; 0 when the file does not say}
    int contextLength() {
        return metadata.integer(architecture() + ".context_length").orElse(0);
    }

    /// An architecture that gives a template may have come or gone, and a companion, too.
    private ModelFacts now(ModelManager manager, ServedModel model) {
        String given = manager.chatTemplate(metadata).orElse("");
        return new ModelFacts(
                metadata,
                parameters,
                format,
                bytes,
                modified,
                digest,
                given,
                model.spec().companion());
    }

    /// {@return whether it makes vectors or scores instead of texts}
    boolean reads() {
        return metadata.integer(architecture() + ".pooling_type").orElse(0) != 0;
    }

    /// {@return whether its template can have it think, or not}
    boolean thinks() {
        return template().contains("enable_thinking")
                || template().contains("<think>")
                || template().contains("reasoning_effort");
    }

    /// {@return what it can do, in Ollama's words}
    ///
    /// @param loaded the model, if it is loaded
    ArrayNode capabilities(Optional<LoadedModel> loaded) {
        ArrayNode all = Json.array();
        all.add(reads() ? "embedding" : "completion");
        if (template().contains("tools")) {
            all.add("tools");
        }
        if (metadata.has("tokenizer.ggml.fim_pre_token_id")) {
            all.add("insert");
        }
        if (thinks()) {
            all.add("thinking");
        }
        if (takes(loaded, MediaKind.PICTURE, CompanionFile::sees)) {
            all.add("vision");
        }
        if (takes(loaded, MediaKind.SOUND, CompanionFile::hears)) {
            all.add("audio");
        }
        return all;
    }

    private boolean takes(Optional<LoadedModel> loaded, MediaKind kind, Predicate<CompanionFile> would) {
        return loaded.map(model -> model.media().contains(kind))
                .orElseGet(() -> companion.filter(would).isPresent());
    }

    /// {@return the details that lists have}
    ObjectNode details() {
        ObjectNode details =
                Json.object().put("parent_model", "").put("format", "gguf").put("family", architecture());
        ArrayNode families = details.putArray("families").add(architecture());
        companion.ifPresent(file -> families.add("clip"));
        return details.put("parameter_size", size(parameters)).put("quantization_level", format);
    }

    private static String size(long parameters) {
        return parameters < 1_000_000_000
                ? String.format(Locale.ROOT, "%.2fM", parameters / 1e6)
                : String.format(Locale.ROOT, "%.1fB", parameters / 1e9);
    }
}
