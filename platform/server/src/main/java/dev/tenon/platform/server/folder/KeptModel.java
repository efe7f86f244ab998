package dev.tenon.platform.server.folder;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.core.files.OutputFile;
import dev.tenon.platform.server.models.KeptTurns;
import dev.tenon.platform.server.models.ModelSpec;
import dev.tenon.platform.server.models.Preset;
import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A name with a preset for the file of another model; kept as JSON in `NAME.model`, where characters that file names
/// cannot have are written as in URLs.
///
/// @param name its name
/// @param file the model's file
/// @param preset what holds for its requests
record KeptModel(String name, Path file, Preset preset) {
    private static final String ENDING = ".model";
    private static final long LONGEST = 16 << 20;

    /// {@return where a model of a name is kept}
    ///
    /// @param folder the folder
    /// @param name the name
    static Path path(Path folder, String name) {
        return folder.resolve(URLEncoder.encode(name, StandardCharsets.UTF_8) + ENDING);
    }

    /// {@return whether a file keeps a model}
    ///
    /// @param file a file of the folder
    static boolean isOne(Path file) {
        String encoded = file.getFileName().toString();
        return encoded.matches("([A-Za-z0-9._*+-]|%[0-9A-F]{2})+\\.model") && ModelSpec.isName(name(file));
    }

    private static String name(Path file) {
        String encoded = file.getFileName().toString();
        return URLDecoder.decode(encoded.substring(0, encoded.length() - ENDING.length()), StandardCharsets.UTF_8);
    }

    /// Reads a model.
    ///
    /// @param folder paths in it are relative to it
    /// @param kept the file that keeps it
    /// @return the model
    /// @throws TenonException (`IO-001`) if it cannot be read
    static KeptModel read(Path folder, Path kept) {
        try {
            if (Files.size(kept) > LONGEST) {
                throw new IOException("it is larger than 16 MiB");
            }
            if (!(Json.parse(Files.readString(kept)) instanceof ObjectNode node)
                    || !node.path("file").isTextual()) {
                throw new IOException("it is not what the server wrote");
            }
            List<ChatTurn> messages = new ArrayList<>();
            node.path("messages").forEach(message -> messages.add(KeptTurns.read(message)));
            List<String> license = new ArrayList<>();
            node.path("license").forEach(text -> license.add(text.asText()));
            return new KeptModel(
                    name(kept),
                    folder.resolve(node.get("file").asText()).normalize(),
                    new Preset(messages, map(node.path("options")), null, license));
        } catch (IOException | IllegalArgumentException e) {
            throw new TenonException(
                    ErrorCode.IO, kept + " cannot be read: " + e.getMessage() + ". Correct or delete the file.", e);
        }
    }

    private static Map<String, Object> map(JsonNode node) {
        Map<String, Object> map = new LinkedHashMap<>();
        node.properties().forEach(each -> map.put(each.getKey(), Json.plain(each.getValue())));
        return map;
    }

    /// Writes the model.
    ///
    /// @param folder where
    void write(Path folder) {
        Map<String, Object> values = new LinkedHashMap<>();
        Path there = file.startsWith(folder) ? folder.relativize(file) : file.toAbsolutePath();
        values.put("file", there.toString().replace('\\', '/'));
        values.put("messages", preset.messages().stream().map(KeptTurns::write).toList());
        values.put("options", preset.options());
        values.put("license", preset.license());
        OutputFile.write(path(folder, name), true, Json.text(values) + "\n");
    }
}
