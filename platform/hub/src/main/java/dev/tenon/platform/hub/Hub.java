package dev.tenon.platform.hub;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.registry.RegistryFile;
import dev.tenon.platform.core.gguf.CompanionFile;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Lists the files of a repository on a model hub that speaks Hugging Face's HTTP interface.
final class Hub {
    private static final String HUB = "https://huggingface.co";

    private final Function<String, Optional<String>> settings;
    private final Duration stall;

    /// @param settings values of the settings `hf.url` and `hf.token`, where they are set
    /// @param stall how long the hub may be silent
    Hub(Function<String, Optional<String>> settings, Duration stall) {
        this.settings = settings;
        this.stall = stall;
    }

    /// {@return where the hub is}
    ///
    /// @throws TenonException (`CFG-001`) if the setting is no address
    URI address() {
        String address = settings.apply("hf.url").orElse(HUB);
        return ModelPull.web(address)
                .orElseThrow(() -> new TenonException(
                        ErrorCode.CONFIG, "TENON_HF_URL is '" + address + "'; expected an http or https address."));
    }

    /// {@return the headers that give access to it}
    Map<String, String> headers() {
        String token = settings.apply("hf.token").orElse(System.getenv("HF_TOKEN"));
        return token == null || token.isBlank() ? Map.of() : Map.of("Authorization", "Bearer " + token.strip());
    }

    /// Lists the files of the wanted quantisation.
    ///
    /// @param reference repository and quantisation
    /// @return one file, or the parts of a split one; then the companion, if the repository has one
    /// @throws TenonException (`IO-002`) if there is no such repository or quantisation, or no answer
    List<RegistryFile> files(HubReference reference) {
        String repo = reference.owner() + "/" + reference.repo();
        URI base = address();
        Map<String, JsonNode> all = new LinkedHashMap<>();
        RegistryAnswer.ask(
                        base.resolve("/api/models/" + repo + "?blobs=true"),
                        headers(),
                        "application/json",
                        stall,
                        base.getHost() + " has no public repository " + repo
                                + ". Check the name; for a restricted one, accept its licence on the site and set"
                                + " HF_TOKEN")
                .path("siblings")
                .forEach(node -> all.putIfAbsent(node.path("rfilename").asText(""), node));
        List<String> names = List.copyOf(all.keySet());
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
            List<String> models = names.stream()
                    .filter(n -> n.endsWith(".gguf") && !CompanionFile.isNamed(n))
                    .toList();
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    models.isEmpty()
                            ? repo + " has no GGUF files. Choose a repository that offers GGUF."
                            : repo + " has no " + reference.quant() + "; it has " + String.join(", ", models)
                                    + ". Name one of these quantisations after a colon.");
        }
        List<String> model = chosen.getFirst();
        return Stream.concat(model.stream(), HubReference.companion(model.getFirst(), names).stream())
                .map(name -> file(base, repo, name, all.get(name)))
                .toList();
    }

    private RegistryFile file(URI base, String repo, String name, JsonNode node) {
        JsonNode lfs = node.path("lfs");
        try {
            return new RegistryFile(
                    name,
                    base.resolve(new URI(null, null, "/" + repo + "/resolve/main/" + name, null)),
                    node.path("size").asLong(lfs.path("size").asLong(-1)),
                    lfs.path("sha256").asText(""),
                    headers());
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD, repo + " has a file that cannot be used, " + name + ": " + e.getMessage(), e);
        }
    }
}
