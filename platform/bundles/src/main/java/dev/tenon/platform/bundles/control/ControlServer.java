package dev.tenon.platform.bundles.control;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.boot.Started;
import dev.tenon.platform.bundles.manager.Failures;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The control channel of a running platform: a Unix domain socket that only its owner can open.
///
/// The socket lies in the working folder of the process, which only the owner may enter; a file in
/// the installation's cache folder, named by the process, says where, and whose it is ([HomeMark]): a request for
/// another installation is refused. Before it makes that, it
/// removes what killed processes left of the kind. A request and its reply are one line of JSON
/// each. It begins when the launcher begins to watch folders, so that the first answer does not
/// wait. With the system property `tenon.control=hidden`, as in the process that records the start-up cache, no
/// file names the socket: commands go to processes that someone uses.
@Component(service = ControlServer.class, immediate = true, configurationPolicy = ConfigurationPolicy.IGNORE)
public final class ControlServer {
    private static final Logger LOG = LoggerFactory.getLogger(ControlServer.class);
    private static final int LONGEST_REQUEST = 64 * 1024;

    private final BundleShell shell;
    /// Null where the channel could not be opened.
    private final ServerSocketChannel server;
    private final Path socket;
    private final Path pointer;
    private final String home;

    /// Opens the channel.
    ///
    /// @param context tells where the installation is
    /// @param shell does what is asked
    /// @param started the launcher's sign that the platform has started
    @Activate
    public ControlServer(BundleContext context, @Reference BundleShell shell, @Reference Started started) {
        this.shell = shell;
        this.home = HomeMark.of(context);
        this.pointer = ControlClient.folder(context)
                .resolve(Long.toString(ProcessHandle.current().pid()));
        this.socket = Path.of(context.getProperty(Constants.FRAMEWORK_STORAGE)).resolveSibling("control");
        ServerSocketChannel opened = null;
        try {
            opened = open();
        } catch (IOException | RuntimeException e) {
            LOG.warn(
                    "'tenon bundles' cannot reach this process, and starts stay slow: {} cannot be written ({}). Make it"
                            + " writable, or set XDG_CACHE_HOME to a folder of your own. [{}]",
                    pointer.getParent().getParent(),
                    e.toString(),
                    ErrorCode.IO);
        }
        server = opened;
        if (server != null) {
            Thread.ofPlatform().daemon().name("tenon-control").start(this::serve);
        }
    }

    private ServerSocketChannel open() throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.bind(UnixDomainSocketAddress.of(socket));
            if (FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) {
                Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
            }
            ControlClient.sweep(pointer.getParent());
            shell.sweep();
            if (!"hidden".equals(System.getProperty("tenon.control"))) {
                announce(pointer, socket, home);
            }
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /// Says where the socket is, in a file that others see whole or not at all.
    ///
    /// @param pointer the file, replaced if a process of the same number left one
    /// @param socket the socket, which is open already
    /// @param home the installation, see [HomeMark]
    /// @throws IOException if the file cannot be written
    static void announce(Path pointer, Path socket, String home) throws IOException {
        Files.createDirectories(pointer.getParent());
        Path draft = Drafts.of(pointer);
        Files.deleteIfExists(draft);
        Files.createFile(draft, ownerOnly());
        Files.writeString(draft, socket + "\n" + home + "\n");
        Files.move(draft, pointer, StandardCopyOption.ATOMIC_MOVE);
    }

    private static FileAttribute<?>[] ownerOnly() {
        return FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[0];
    }

    @Deactivate
    void close() throws IOException {
        if (server != null) {
            server.close();
            Files.deleteIfExists(pointer);
        }
        Files.deleteIfExists(socket);
    }

    private void serve() {
        while (server.isOpen()) {
            try (SocketChannel peer = server.accept()) {
                answer(peer);
            } catch (ClosedChannelException e) {
                LOG.debug("The control channel was closed", e);
            } catch (IOException | RuntimeException e) {
                LOG.warn("A request on the control channel failed: {}", e.toString());
            }
        }
    }

    private void answer(SocketChannel peer) throws IOException {
        BufferedReader in = new BufferedReader(Channels.newReader(peer, StandardCharsets.UTF_8));
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c >= 0 && c != '\n' && line.length() < LONGEST_REQUEST; c = in.read()) {
            line.append((char) c);
        }
        ObjectNode reply = ControlJson.MAPPER.createObjectNode();
        try {
            JsonNode request = ControlJson.MAPPER.readTree(line.toString());
            requireSame(request.path("home").asText());
            String text = shell.run(
                    request.path("command").asText(), request.path("argument").asText());
            reply.put("ok", true).put("text", text);
        } catch (TenonException e) {
            reply.put("ok", false).put("code", e.code()).put("text", Failures.plain(e));
        } catch (IOException | RuntimeException e) {
            reply.put("ok", false).put("code", ErrorCode.CONTROL).put("text", "The request failed: " + e);
        }
        write(peer, reply);
    }

    private void requireSame(String asked) {
        if (!asked.equals(home)) {
            throw new TenonException(
                    ErrorCode.CONTROL,
                    "Process " + ProcessHandle.current().pid() + " runs the installation " + home + ", not "
                            + (asked.isEmpty() ? "one that the command names" : asked)
                            + ". Run the command of that installation");
        }
    }

    private static void write(SocketChannel peer, ObjectNode reply) throws IOException {
        ByteBuffer bytes =
                ByteBuffer.wrap((ControlJson.MAPPER.writeValueAsString(reply) + "\n").getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            peer.write(bytes);
        }
    }
}
