package dev.tenon.itest.framework;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// What commands ask a running platform, without a process for each.
///
/// @param socket its control channel
/// @param home what its file says of the installation
record ControlChannel(Path socket, String home) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /// Waits until the process has opened its channel.
    static ControlChannel of(Installation installation, Process process) throws Exception {
        Path file = installation.home().resolve("cache/running").resolve(Long.toString(process.pid()));
        Osgi.await("the control channel is open", () -> Files.exists(file) || !process.isAlive());
        List<String> lines = Files.readAllLines(file);
        return new ControlChannel(Path.of(lines.get(0)), lines.get(1));
    }

    /// {@return the answer: fields `ok`, `text` and, if it was refused, `code`}
    JsonNode ask(String command, String argument) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            String request =
                    JSON.writeValueAsString(Map.of("command", command, "argument", argument, "home", home)) + "\n";
            ByteBuffer bytes = ByteBuffer.wrap(request.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            return JSON.readTree(Channels.newReader(channel, StandardCharsets.UTF_8));
        }
    }
}
