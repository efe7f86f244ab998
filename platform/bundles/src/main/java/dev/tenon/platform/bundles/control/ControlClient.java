package dev.tenon.platform.bundles.control;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.osgi.framework.BundleContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A running platform of this installation, as its control channel shows it.
///
/// @param pid number of the process
/// @param socket its control channel
/// @param home the installation, see [HomeMark]
public record ControlClient(long pid, Path socket, String home) {
    private static final Logger LOG = LoggerFactory.getLogger(ControlClient.class);

    /// {@return the folder with a file for each running platform of an installation}
    ///
    /// @param context of a bundle of it
    public static Path folder(BundleContext context) {
        String cache = context.getProperty("tenon.cache");
        Path folder = cache == null || cache.isBlank()
                ? Path.of(String.valueOf(context.getProperty("tenon.home"))).resolve("cache")
                : Path.of(cache);
        return folder.toAbsolutePath().resolve("running");
    }

    /// {@return the other platforms of this installation that run now, the one that began last first}
    ///
    /// @param context of a bundle of it
    public static List<ControlClient> running(BundleContext context) {
        return running(folder(context), HomeMark.of(context));
    }

    /// The same. What names another installation is left out: the folder may be a copy of another one's, made while
    /// that ran.
    ///
    /// @param folder see [#folder(BundleContext)]
    /// @param home the installation, see [HomeMark]
    static List<ControlClient> running(Path folder, String home) {
        List<ControlClient> found = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return found;
        }
        sweep(folder);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "[0-9]*")) {
            for (Path file : files) {
                long pid = Long.parseLong(file.getFileName().toString());
                if (pid != ProcessHandle.current().pid() && Drafts.runs(pid)) {
                    socket(file, home).ifPresent(socket -> found.add(new ControlClient(pid, socket, home)));
                }
            }
        } catch (IOException | NumberFormatException e) {
            throw new TenonException(
                    ErrorCode.CONTROL, "The running platforms cannot be listed in " + folder + ": " + e, e);
        }
        found.sort(Comparator.comparing(ControlClient::started).reversed());
        return found;
    }

    /// Removes the files of platforms that were killed. What cannot be removed is logged and left.
    ///
    /// @param folder see [#folder(BundleContext)]; need not be there
    static void sweep(Path folder) {
        if (!Files.isDirectory(folder)) {
            return;
        }
        Drafts.sweep(folder);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "[0-9]*")) {
            for (Path file : files) {
                if (!Drafts.runs(Long.parseLong(file.getFileName().toString()))) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException | DirectoryIteratorException | NumberFormatException e) {
            LOG.debug("Files of earlier processes stay in {}", folder, e);
        }
    }

    private static Optional<Path> socket(Path file, String home) throws IOException {
        try {
            String[] lines = Files.readString(file).split("\n");
            return lines.length > 1 && lines[1].equals(home) ? Optional.of(Path.of(lines[0])) : Optional.empty();
        } catch (NoSuchFileException e) {
            LOG.debug("The platform of {} ended while the others were listed", file, e);
            return Optional.empty();
        }
    }

    private java.time.Instant started() {
        return ProcessHandle.of(pid).flatMap(p -> p.info().startInstant()).orElse(java.time.Instant.EPOCH);
    }

    /// Has the platform run a command.
    ///
    /// @param command see [BundleShell#run]
    /// @param argument its argument, perhaps empty
    /// @return the answer
    /// @throws TenonException what the platform refused, or `BUNDLE-004` if it does not answer or is of
    ///     another installation
    public String ask(String command, String argument) {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            String request = ControlJson.MAPPER.writeValueAsString(
                            Map.of("command", command, "argument", argument, "home", home))
                    + "\n";
            ByteBuffer bytes = ByteBuffer.wrap(request.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            JsonNode reply = ControlJson.MAPPER.readTree(Channels.newReader(channel, StandardCharsets.UTF_8));
            if (reply == null || !reply.path("ok").isBoolean()) {
                throw new IOException("it closed the connection without an answer");
            }
            String text = reply.path("text").asText();
            if (!reply.path("ok").asBoolean()) {
                throw new TenonException(reply.path("code").asText(), text);
            }
            return text;
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.CONTROL,
                    "The running platform, process " + pid + ", cannot be asked at " + socket + ": " + e.getMessage(),
                    e);
        }
    }
}
