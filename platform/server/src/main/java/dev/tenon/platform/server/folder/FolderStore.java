package dev.tenon.platform.server.folder;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.control.ModelRegistries;
import dev.tenon.platform.core.gguf.CompanionFile;
import dev.tenon.platform.hub.ModelFiles;
import dev.tenon.platform.hub.ModelPull;
import dev.tenon.platform.hub.ModelReference;
import dev.tenon.platform.server.models.ModelSpec;
import dev.tenon.platform.server.models.ModelStore;
import dev.tenon.platform.server.models.Preset;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The models of a folder: its GGUF files but companions, named by their paths below it and, where only one has it, by
/// their own name; and names that were given to files. Safe for any thread.
public final class FolderStore implements ModelStore {
    private static final Logger LOG = LoggerFactory.getLogger(FolderStore.class);
    private static final int DEPTH = 5;
    private static final String ENDING = ".gguf";
    private static final String LATER_PART = ".*-(?!00001)\\d{5}-of-\\d{5}\\.gguf";
    private static final List<String> HUBS = List.of("hf.co/", "huggingface.co/", "hf:");

    private final Path folder;
    private final BiFunction<String, Path, ModelSpec> spec;
    private final ModelRegistries registries;
    private final Function<String, Optional<String>> settings;

    /// @param folder the folder
    /// @param spec makes a model of a name and a file
    /// @param registries where models can be pulled from, see [ModelRegistries#of]
    /// @param settings the settings of downloads, see [ModelPull]
    public FolderStore(
            Path folder,
            BiFunction<String, Path, ModelSpec> spec,
            ModelRegistries registries,
            Function<String, Optional<String>> settings) {
        this.folder = folder.toAbsolutePath().normalize();
        this.spec = spec;
        this.registries = registries;
        this.settings = settings;
    }

    @Override
    public synchronized List<ModelSpec> models() {
        List<Path> files;
        try (Stream<Path> found = Files.walk(folder, DEPTH)) {
            files = found.filter(Files::isRegularFile).sorted().toList();
        } catch (IOException | UncheckedIOException e) {
            throw new TenonException(
                    ErrorCode.IO, folder + " cannot be read: " + e.getMessage() + ". Check --models-dir.", e);
        }
        Map<String, Path> models = named(files);
        List<KeptModel> kept = kept(files).stream()
                .filter(each -> !models.containsKey(each.name()))
                .toList();
        Map<String, Integer> bases = new HashMap<>();
        models.keySet().forEach(name -> bases.merge(base(name), 1, Integer::sum));
        Set<String> taken = new HashSet<>(models.keySet());
        kept.forEach(each -> taken.add(each.name()));
        List<ModelSpec> all = new ArrayList<>();
        models.forEach((name, file) -> {
            boolean alias = bases.get(base(name)) == 1 && !taken.contains(base(name)) && ModelSpec.isName(base(name));
            all.add(aliased(spec.apply(name, file), alias ? List.of(base(name)) : List.of()));
        });
        kept.forEach(each -> all.add(preset(spec.apply(each.name(), each.file()), each.preset())));
        return List.copyOf(all);
    }

    /// The files that can be loaded, by name; those whose name no request could hold are left out.
    private Map<String, Path> named(List<Path> files) {
        Map<String, Path> models = new java.util.LinkedHashMap<>();
        for (Path file : files) {
            String path = folder.relativize(file).toString().replace('\\', '/');
            if (path.endsWith(ENDING) && !path.matches(LATER_PART) && !CompanionFile.isNamed(path)) {
                String name = path.substring(0, path.length() - ENDING.length());
                if (ModelSpec.isName(name)) {
                    models.put(name, file);
                }
            }
        }
        return models;
    }

    private List<KeptModel> kept(List<Path> files) {
        return files.stream()
                .filter(file -> file.getParent().equals(folder) && KeptModel.isOne(file))
                .map(this::read)
                .flatMap(Optional::stream)
                .filter(each -> Files.isRegularFile(each.file()))
                .toList();
    }

    /// One that cannot be read is told of in the log, so that the others are there.
    private Optional<KeptModel> read(Path file) {
        try {
            return Optional.of(KeptModel.read(folder, file));
        } catch (TenonException e) {
            LOG.warn("A kept model is left out", e);
            return Optional.empty();
        }
    }

    private static String base(String name) {
        return name.substring(name.lastIndexOf('/') + 1);
    }

    private static ModelSpec aliased(ModelSpec model, List<String> aliases) {
        return new ModelSpec(model.name(), aliases, model.request(), model.sampling(), model.preset());
    }

    private static ModelSpec preset(ModelSpec model, Preset own) {
        LoadRequest request = own.contextLength() == 0
                ? model.request()
                : model.request().toBuilder().contextLength(own.contextLength()).build();
        Preset whole = new Preset(own.messages(), own.options(), model.preset().keepAlive(), own.license());
        return new ModelSpec(model.name(), List.of(), request, model.sampling(), whole);
    }

    @Override
    public Optional<String> find(String name) {
        ModelFiles files = new ModelFiles(folder);
        String reference = onHub(name);
        if (ModelReference.of(reference).isEmpty() || files.isMissing(reference)) {
            return Optional.empty();
        }
        Path file = files.find(reference);
        return models().stream()
                .filter(model -> model.preset().equals(Preset.none())
                        && model.request().path().equals(file))
                .map(ModelSpec::name)
                .findFirst();
    }

    /// {@return a name without the hub that it may begin with, and without the tag that says nothing}
    private static String onHub(String name) {
        String plain = name.replaceFirst(":latest$", "");
        return HUBS.stream()
                .filter(plain::startsWith)
                .findFirst()
                .map(hub -> plain.substring(hub.length()))
                .orElse(plain);
    }

    @Override
    public synchronized void keep(String name, ModelSpec from, Preset preset) {
        if (Files.exists(folder.resolve(name + ENDING))) {
            throw new TenonException(
                    ErrorCode.ARGUMENT, "'" + name + "' is a model's file. Delete it, or choose another name.");
        }
        new KeptModel(name, from.request().path().toAbsolutePath().normalize(), preset).write(folder);
    }

    @Override
    public synchronized void delete(String name, List<Path> used) {
        try {
            if (Files.deleteIfExists(KeptModel.path(folder, name))) {
                return;
            }
            Path file = folder.resolve(name + ENDING).normalize();
            if (!file.startsWith(folder)) {
                throw new TenonException(ErrorCode.ARGUMENT, "'" + name + "' is not in the folder of models.");
            }
            List<String> users;
            try (Stream<Path> files = Files.list(folder)) {
                users = kept(files.filter(Files::isRegularFile).toList()).stream()
                        .filter(each -> each.file().equals(file))
                        .map(KeptModel::name)
                        .toList();
            }
            for (Path each : used) {
                if (Files.exists(each) && Files.isSameFile(each, file)) {
                    throw new TenonException(
                            ErrorCode.ARGUMENT, "The server was started with the file of '" + name + "'; it stays.");
                }
            }
            if (!users.isEmpty()) {
                throw new TenonException(
                        ErrorCode.ARGUMENT,
                        "The file of '" + name + "' belongs to " + String.join(", ", users)
                                + ", too. Delete those first.");
            }
            new ModelFiles(folder).delete(file);
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, "'" + name + "' cannot be deleted: " + e.getMessage(), e);
        }
    }

    @Override
    public void pull(String source, PullProgress progress) {
        ModelReference reference = ModelReference.of(onHub(source))
                .orElseThrow(() -> new TenonException(
                        ErrorCode.USAGE,
                        "'" + source + "' is not a model on the hub or of another registry; expected"
                                + " owner/repo[:quant] or ID:MODEL."));
        try {
            new ModelPull(registries, settings, new PullStates(progress)).pull(reference, ModelPull.Target.in(folder));
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, source + " cannot be stored: " + e.getMessage(), e);
        }
    }
}
