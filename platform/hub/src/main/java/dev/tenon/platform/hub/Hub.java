package dev.tenon.platform.hub;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.hub.http.HttpGet;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// Lists the files of a repository on a model hub that speaks Hugging Face's HTTP interface.
final class Hub {
    private static final int MAX_LISTING_BYTES = 64 << 20;

    private final URI base;
    private final HttpGet http;

    Hub(URI base, HttpGet http) {
        this.base = base;
        this.http = http;
    }

    /// One file of a repository.
    ///
    /// @param name path within the repository
    /// @param uri where to get it
    /// @param size its size in bytes, or -1 when not told
    /// @param sha256 its SHA-256 in hexadecimal, or null when not told
    record HubFile(String name, URI uri, long size, String sha256) {}

    /// Lists the files of the wanted quantisation.
    ///
    /// @param reference repository and quantisation
    /// @return one file, or the parts of a split one
    /// @throws TenonException (`IO-002`) if there is no such repository or quantisation, or no answer
    List<HubFile> files(HubReference reference) {
        String repo = reference.owner() + "/" + reference.repo();
        JsonNode listing = get(base.resolve("/api/models/" + repo + "?blobs=true"), reference);
        List<HubFile> all = new ArrayList<>();
        for (JsonNode node : listing.path("siblings")) {
            String name = node.path("rfilename").asText("");
            JsonNode lfs = node.path("lfs");
            String sha256 = lfs.path("sha256").asText(null);
            long size = node.path("size").asLong(lfs.path("size").asLong(-1));
            all.add(new HubFile(name, fileUri(repo, name), size, sha256));
        }
        List<String> names = all.stream().map(HubFile::name).toList();
        List<List<String>> chosen = reference.choose(names);
        if (chosen.size() > 1) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    repo + " has " + chosen.size() + " models"
                            + (reference.quant().isEmpty() ? "" : " of " + reference.quant())
                            + ": "
                            + chosen.stream().map(List::getFirst).collect(Collectors.joining(", "))
                            + ". Name one after a colon, as in: tenon pull " + repo + ":"
                            + HubReference.name(chosen.getFirst().getFirst()));
        }
        if (chosen.isEmpty()) {
            List<String> models =
                    names.stream().filter(n -> n.endsWith(".gguf")).toList();
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    models.isEmpty()
                            ? repo + " has no GGUF files. Choose a repository that offers GGUF."
                            : repo + " has no " + reference.quant() + "; it has " + String.join(", ", models)
                                    + ". Name one of these quantisations after a colon.");
        }
        return chosen.getFirst().stream()
                .map(name -> all.stream()
                        .filter(f -> f.name().equals(name))
                        .findFirst()
                        .orElseThrow())
                .toList();
    }

    private URI fileUri(String repo, String name) {
        try {
            return base.resolve(new URI(null, null, "/" + repo + "/resolve/main/" + name, null));
        } catch (URISyntaxException e) {
            throw new TenonException(ErrorCode.DOWNLOAD, repo + " has a file with an unusable name: " + name + ".", e);
        }
    }

    private JsonNode get(URI uri, HubReference reference) {
        try (HttpGet.Answer answer = http.send(uri, Map.of("Accept", "application/json"))) {
            int status = answer.status();
            if (status == 401 || status == 403 || status == 404) {
                throw new TenonException(
                        ErrorCode.DOWNLOAD,
                        base.getHost() + " has no public repository " + reference.owner() + "/" + reference.repo()
                                + " (HTTP " + status
                                + "). Check the name; for a restricted one, accept its licence on the site and"
                                + " set HF_TOKEN.");
            }
            if (status != 200) {
                throw new TenonException(
                        ErrorCode.DOWNLOAD, uri + " answered with HTTP " + status + "; expected 200. Try again later.");
            }
            byte[] listing = answer.body().readNBytes(MAX_LISTING_BYTES + 1);
            if (listing.length > MAX_LISTING_BYTES) {
                throw new TenonException(
                        ErrorCode.DOWNLOAD, "The listing at " + uri + " is larger than 64 MiB. Give a file's URL.");
            }
            return new ObjectMapper().readTree(listing);
        } catch (JacksonException e) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD, uri + " did not send a list of the repository's files. Check TENON_HF_URL.", e);
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    uri + " cannot be read: " + e.getMessage() + ". Check the address and the network.",
                    e);
        }
    }
}
