package dev.tenon.platform.hub;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.hub.http.HttpGet;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Map;

/// What a registry of models answers about a model, as JSON.
final class RegistryAnswer {
    private static final int MOST_BYTES = 64 << 20;

    private RegistryAnswer() {}

    /// Asks a registry.
    ///
    /// @param uri what to ask
    /// @param secrets headers such as `Authorization`
    /// @param accept media types of the answer
    /// @param stall how long the registry may be silent
    /// @param absent what is wrong where it has no such model, or denies access
    /// @return its answer
    /// @throws TenonException (`IO-002`) if there is none
    static JsonNode ask(URI uri, Map<String, String> secrets, String accept, Duration stall, String absent) {
        try (HttpGet http = new HttpGet(secrets, uri, stall);
                HttpGet.Answer answer = http.send(uri, Map.of("Accept", accept))) {
            int status = answer.status();
            if (status == 401 || status == 403 || status == 404) {
                throw new TenonException(ErrorCode.DOWNLOAD, absent + " (HTTP " + status + ").");
            }
            if (status != 200) {
                throw new TenonException(
                        ErrorCode.DOWNLOAD, uri + " answered with HTTP " + status + "; expected 200. Try again later.");
            }
            byte[] json = answer.body().readNBytes(MOST_BYTES + 1);
            if (json.length > MOST_BYTES) {
                throw new TenonException(
                        ErrorCode.DOWNLOAD, "The listing at " + uri + " is larger than 64 MiB. Give a file's URL.");
            }
            return new ObjectMapper().readTree(json);
        } catch (JacksonException e) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD, uri + " did not send JSON. Check the address of the registry.", e);
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    uri + " cannot be read: " + e.getMessage() + ". Check the address and the network.",
                    e);
        }
    }
}
