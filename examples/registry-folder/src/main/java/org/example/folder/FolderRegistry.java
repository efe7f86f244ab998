package org.example.folder;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.api.registry.RegistryFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.osgi.service.component.annotations.Component;

/// The models of a folder: `folder:NAME` is `NAME.gguf` there, or all parts of a split model.
@Component(service = ModelRegistry.class)
@ServiceProvider(value = ModelRegistry.class, resolution = Resolution.OPTIONAL)
public final class FolderRegistry implements ModelRegistry {
    @Override
    public String id() {
        return "folder";
    }

    @Override
    public List<RegistryFile> files(String reference) {
        String set = FolderSettings.models();
        if (set.isEmpty()) {
            throw new TenonException(
                    ErrorCode.CONFIG,
                    "No folder is set for folder:" + reference + ". Set TENON_FOLDER_MODELS, or folder.models in"
                            + " etc/dev.tenon.platform.cfg.");
        }
        Path folder = Path.of(set).toAbsolutePath();
        try (Stream<Path> all = Files.list(folder)) {
            // Compared with names that are there, no text leads out of the folder.
            List<Path> models = all.filter(file -> file.toString().endsWith(".gguf"))
                    .filter(Files::isRegularFile)
                    .sorted()
                    .toList();
            List<RegistryFile> files = new ArrayList<>();
            for (Path file : models) {
                if (name(file).equals(reference)) {
                    files.add(new RegistryFile(
                            file.getFileName().toString(), file.toUri(), Files.size(file), "", Map.of()));
                }
            }
            if (files.isEmpty()) {
                throw new TenonException(
                        ErrorCode.DOWNLOAD,
                        "There is no model '" + reference + "' in " + folder + "; there are "
                                + models.stream().map(FolderRegistry::name).distinct().toList() + ".");
            }
            return files;
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD, folder + " cannot be read: " + e.getMessage() + ". Check folder.models.", e);
        }
    }

    private static String name(Path file) {
        return file.getFileName().toString().replaceFirst("(-\\d{5}-of-\\d{5})?\\.gguf$", "");
    }
}
