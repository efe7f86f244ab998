package dev.tenon.platform.cli.pull;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.core.files.OutputFile;
import dev.tenon.platform.core.gguf.CompanionFile;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.hub.HubReference;
import dev.tenon.platform.hub.ModelFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `tenon cp`: gives a model another name among the pulled ones.
@Command(
        name = "cp",
        description = {
            "Gives a model another name among the pulled ones.",
            "The new name is a hard link, which needs no space, or a copy where there can be no link.",
            "The companion of a model that sees or hears is mmproj-NAME then."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  tenon cp org/repo-GGUF:Q8_0 writer", "  tenon cp ./model.gguf mine"})
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=cp",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class CpCommand implements TenonCommand {
    private static final long PIECE = 8 << 20;

    @ParentCommand
    Console console;

    @Parameters(index = "0", paramLabel = "SOURCE", description = "A GGUF file, or a pulled model.")
    private String source;

    @Parameters(index = "1", paramLabel = "NAME", description = "The new name: letters, digits, '.', '_' and '-'.")
    private String name;

    @Option(
            names = {"-y", "--overwrite"},
            description = "Replace a model of this name without asking.")
    private boolean overwrite;

    @Override
    public Integer call() throws IOException {
        if (!name.matches("\\w[\\w.-]*")) {
            throw new TenonException(
                    ErrorCode.USAGE, "'" + name + "' is not a name; expected letters, digits, '.', '_' and '-'.");
        }
        Path from = console.model(source);
        if (!Files.isRegularFile(from)) {
            throw new TenonException(ErrorCode.IO, from + " is not a file. Check the path, or see 'tenon list'.");
        }
        if (HubReference.parts(from.getFileName().toString()).size() > 1) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    from + " is one of several parts, which belong together by their names; use them.");
        }
        if (CompanionFile.isNamed(name)
                && !CompanionFile.isNamed(from.getFileName().toString())) {
            throw new TenonException(
                    ErrorCode.USAGE, "'" + name + "' is the name of a companion (mmproj). Choose another name.");
        }
        requireModel(from);
        Path folder = ModelFiles.folder(console.setting("models"));
        Files.createDirectories(folder);
        String file = name.endsWith(".gguf") ? name : name + ".gguf";
        Optional<Path> companion = CompanionFile.beside(from);
        copy(from, folder.resolve(file));
        if (companion.isPresent()) {
            copy(companion.get(), folder.resolve("mmproj-" + file));
        }
        return 0;
    }

    private void copy(Path from, Path target) throws IOException {
        Path real = from.toRealPath();
        OutputFile.check(target, console.mayReplace(target, overwrite), from);
        if (Files.exists(target, LinkOption.NOFOLLOW_LINKS) || !linked(target, real)) {
            write(real, target);
        }
        console.out().println(target);
    }

    /// Refuses what is no model; one of a format that a bundle may bring has a name all the same.
    private static void requireModel(Path file) throws IOException {
        try {
            GgufReader.check(file, TensorTypes.standard());
        } catch (UnsupportedModelException e) {
            if (!e.code().equals(ErrorCode.GGUF_TENSOR_TYPE)) {
                throw e;
            }
        }
    }

    private boolean linked(Path target, Path real) throws IOException {
        try {
            Files.createLink(target, real);
            return true;
        } catch (FileAlreadyExistsException e) {
            throw e;
        } catch (UnsupportedOperationException | FileSystemException e) {
            console.note("There can be no link (" + e.getMessage() + "); copying.");
            return false;
        }
    }

    private void write(Path real, Path target) throws IOException {
        long size = Files.size(real);
        try (OutputFile file = OutputFile.open(target, true, real);
                FileChannel in = FileChannel.open(real);
                Progress bar = console.progress("copy", size, "bytes")) {
            for (long done = 0; done < size; bar.to(done)) {
                long moved = in.transferTo(done, PIECE, file.channel());
                if (moved <= 0) {
                    throw new IOException(real + " became shorter while it was copied");
                }
                done += moved;
            }
            file.complete();
        } catch (IOException e) {
            throw OutputFile.failed(target, e);
        }
    }
}
