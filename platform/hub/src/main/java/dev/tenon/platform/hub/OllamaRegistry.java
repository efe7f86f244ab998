package dev.tenon.platform.hub;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.api.registry.RegistryFile;
import dev.tenon.platform.hub.http.HttpGet;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;

/// Ollama's library as a registry: `ollama:[owner/]name[:tag]`. A model that Ollama has pulled on this machine is used
/// where it is; others are downloaded. A manifest lists the parts of a model by their SHA-256; of these one is the
/// GGUF file, and one more the companion of a model that sees.
@Component(service = ModelRegistry.class)
@ServiceProvider(value = ModelRegistry.class, resolution = Resolution.OPTIONAL)
public final class OllamaRegistry implements ModelRegistry {
    private static final String ID = "ollama";
    private static final String HOST = "registry.ollama.ai";
    private static final String MANIFEST = "application/vnd.docker.distribution.manifest.v2+json";
    private static final String MODEL = "application/vnd.ollama.image.model";
    private static final String PROJECTOR = "application/vnd.ollama.image.projector";
    private static final String ADAPTER = "application/vnd.ollama.image.adapter";
    private static final Pattern REFERENCE =
            Pattern.compile("(?:([A-Za-z0-9][\\w.-]*)/)?([A-Za-z0-9][\\w.-]*)(?::([A-Za-z0-9][\\w.-]*))?");
    private static final Pattern DIGEST = Pattern.compile("sha256:([0-9a-f]{64})");

    private final UnaryOperator<String> environment;
    private final URI address;

    /// Makes one of Ollama's own library.
    @Activate
    public OllamaRegistry() {
        this(System::getenv, URI.create("https://" + HOST));
    }

    /// @param environment values of variables, or null
    /// @param address where the library is
    OllamaRegistry(UnaryOperator<String> environment, URI address) {
        this.environment = environment;
        this.address = address;
    }

    @Override
    public String id() {
        return ID;
    }

    private record Name(String owner, String model, String tag) {
        @Override
        public String toString() {
            return owner + "/" + model + ":" + tag;
        }
    }

    @Override
    public List<RegistryFile> files(String reference) {
        Matcher form = REFERENCE.matcher(reference);
        if (!form.matches()) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    "'" + reference + "' is no model of Ollama's; expected [owner/]name[:tag], such as qwen3:0.6b.");
        }
        Name name = new Name(
                form.group(1) == null ? "library" : form.group(1),
                form.group(2),
                form.group(3) == null ? "latest" : form.group(3));
        for (Path folder : folders()) {
            Path manifest = folder.resolve("manifests")
                    .resolve(HOST)
                    .resolve(name.owner())
                    .resolve(name.model())
                    .resolve(name.tag());
            if (Files.isRegularFile(manifest)) {
                Path blobs = folder.resolve("blobs");
                List<RegistryFile> files = files(
                        name,
                        read(manifest),
                        digest -> blobs.resolve("sha256-" + digest).toUri());
                if (files.stream().allMatch(file -> Files.isRegularFile(Path.of(file.uri())))) {
                    return files;
                }
            }
        }
        URI base = address.resolve("/v2/" + name.owner() + "/" + name.model() + "/");
        JsonNode manifest = RegistryAnswer.ask(
                base.resolve("manifests/" + name.tag()),
                Map.of(),
                MANIFEST,
                HttpGet.PATIENCE,
                "Ollama's library has no " + name + ". Check name and tag");
        return files(name, manifest, digest -> base.resolve("blobs/sha256:" + digest));
    }

    /// Where Ollama keeps its models on this machine: for this user, or as a service.
    private List<Path> folders() {
        List<Path> folders = new ArrayList<>();
        Stream.of(environment.apply("OLLAMA_MODELS"))
                .filter(set -> set != null && !set.isBlank())
                .map(Path::of)
                .forEach(folders::add);
        folders.add(Path.of(System.getProperty("user.home"), ".ollama", "models"));
        folders.add(Path.of("/usr/share/ollama/.ollama/models"));
        return folders;
    }

    private static JsonNode read(Path manifest) {
        try {
            return new ObjectMapper().readTree(Files.readAllBytes(manifest));
        } catch (JacksonException e) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD, manifest + " is no manifest of Ollama's. Pull the model again.", e);
        } catch (IOException e) {
            throw new TenonException(ErrorCode.DOWNLOAD, manifest + " cannot be read: " + e.getMessage(), e);
        }
    }

    /// {@return the layers of a manifest that are GGUF files: the model, then its companion}
    private static List<RegistryFile> files(Name name, JsonNode manifest, Function<String, URI> place) {
        List<JsonNode> models = new ArrayList<>();
        List<JsonNode> projectors = new ArrayList<>();
        for (JsonNode layer : manifest.path("layers")) {
            switch (layer.path("mediaType").asText()) {
                case MODEL -> models.add(layer);
                case PROJECTOR -> projectors.add(layer);
                case ADAPTER ->
                    throw new TenonException(
                            ErrorCode.DOWNLOAD,
                            name + " is a model with an adapter, which Ollama adds to it. Load the model it is made of,"
                                    + " and the adapter beside it.");
                default -> {} // template, parameters, licence: the GGUF file has its own
            }
        }
        if (models.size() != 1 || projectors.size() > 1) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    name + " has " + models.size() + " GGUF files and " + projectors.size()
                            + " projectors; expected 1, and at most 1. Choose another model.");
        }
        String file = name.model() + "-" + name.tag() + ".gguf";
        return Stream.concat(
                        models.stream().map(layer -> file(name, file, layer, place)),
                        projectors.stream().map(layer -> file(name, "mmproj-" + file, layer, place)))
                .toList();
    }

    private static String digest(JsonNode layer, Name name) {
        Matcher digest = DIGEST.matcher(layer.path("digest").asText());
        if (!digest.matches()) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    name + " has the digest '" + layer.path("digest").asText() + "'; expected sha256: and 64 digits.");
        }
        return digest.group(1);
    }

    private static RegistryFile file(Name name, String file, JsonNode layer, Function<String, URI> place) {
        String digest = digest(layer, name);
        return new RegistryFile(file, place.apply(digest), layer.path("size").asLong(-1), digest, Map.of());
    }
}
