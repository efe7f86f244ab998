package dev.tenon;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.files.OutputFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The turns of a conversation as a file of JSON.
final class SavedTurns {
    private SavedTurns() {}

    static void write(Path file, List<ChatTurn> turns) {
        OutputFile.write(file, true, JsonValues.text(turns) + "\n");
    }

    static List<ChatTurn> read(Path file) {
        try {
            return List.of(JsonValues.read(Files.readString(file), ChatTurn[].class));
        } catch (JsonProcessingException e) {
            throw new TenonException(
                    ErrorCode.IO,
                    file + " is no conversation: " + e.getOriginalMessage() + ". Name a file that Chat.save wrote.",
                    e);
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, file + " cannot be read: " + e.getMessage(), e);
        }
    }
}
