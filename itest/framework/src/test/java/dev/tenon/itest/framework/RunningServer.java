package dev.tenon.itest.framework;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// `tenon serve` of an installation as a process, and a client.
final class RunningServer implements AutoCloseable {
    final HttpClient client = HttpClient.newHttpClient();
    final Process process;
    final String address;
    private final Path err;
    private final Deadline deadline;
    private final BufferedReader out;

    /// Starts it on a free port, and waits until it listens.
    ///
    /// @param installation whose script is run
    /// @param limit how long the process may run in all
    /// @param options of the command `serve`
    RunningServer(Installation installation, Duration limit, String... options) throws IOException {
        err = installation.home().resolve("err.txt");
        String[] line = Stream.concat(Stream.of("serve", "--port", "0"), Stream.of(options))
                .toArray(String[]::new);
        process = installation.with("TENON_LOG", "warn").start(err, line);
        deadline = new Deadline(process, limit);
        out = process.inputReader();
        String first = out.readLine();
        String said = "Listening at ";
        if (first == null || !first.startsWith(said)) {
            process.destroyForcibly();
            throw new AssertionError(first + errors());
        }
        address = first.substring(said.length());
    }

    HttpRequest post(String path, String body) {
        return HttpRequest.newBuilder(URI.create(address + path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }

    /// {@return the answer, whatever its status}
    HttpResponse<String> send(HttpRequest request) throws Exception {
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(address + path)).build());
    }

    /// {@return the sum of a metric over its labels}
    double metric(String name) throws Exception {
        return get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("tenon:" + name))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /// {@return number of open files and sockets of the process; 0 where the system does not tell}
    long openFiles() throws IOException {
        return entries("fd");
    }

    /// {@return number of threads of the process; 0 where the system does not tell}
    long threads() throws IOException {
        return entries("task");
    }

    private long entries(String of) throws IOException {
        Path folder = Path.of("/proc", Long.toString(process.pid()), of);
        if (!Files.isDirectory(folder)) {
            return 0;
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.count();
        }
    }

    /// Has the process collect its garbage, and counts what is left.
    ///
    /// @return lines of class, number and bytes of objects
    String histogram() throws Exception {
        return tool("GC.class_histogram");
    }

    /// {@return bytes of objects on the heap after a collection}
    long heapBytes() throws Exception {
        String total = histogram()
                .lines()
                .filter(l -> l.startsWith("Total"))
                .findFirst()
                .orElseThrow();
        String[] fields = total.strip().split("\\s+");
        return Long.parseLong(fields[fields.length - 1]);
    }

    private String tool(String command) throws Exception {
        String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        Process tool = new ProcessBuilder(jcmd, Long.toString(process.pid()), command)
                .redirectErrorStream(true)
                .start();
        String text = new String(tool.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        if (!tool.waitFor(1, TimeUnit.MINUTES) || tool.exitValue() != 0) {
            throw new AssertionError(command + ": " + text);
        }
        return text;
    }

    void signal(String name) throws Exception {
        int status = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
        if (status != 0) {
            throw new AssertionError("kill -" + name + ": " + status);
        }
    }

    /// {@return what the process wrote to standard error}
    String errors() {
        try {
            return Files.readString(err);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /// {@return the exit status after SIGTERM}
    int terminate() throws Exception {
        signal("TERM");
        return deadline.await();
    }

    @Override
    public void close() throws IOException {
        client.close();
        process.destroyForcibly();
        deadline.close();
        out.close();
    }
}
