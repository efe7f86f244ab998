package dev.tenon.platform.server;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.control.BundleControl;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;

/// A manager of bundles that notes what it is told. A jar whose text is `broken` is refused; one
/// whose text is `slow` waits until it is released.
final class StubBundles implements BundleControl {
    private static final String LIST = """
            [{"id":0,"name":"org.example.framework","version":"1.0.0","state":"ACTIVE","services":[],"problems":[],
              "access":"","sha256":"","signer":"","removable":false},
             {"id":7,"name":"org.example.format","version":"1.2.0","state":"ACTIVE","services":["QuantFormat x2"],
              "problems":[],"access":"files","sha256":"ab","signer":"CN=Example","removable":true},
             {"id":-1,"name":"deploy/bad.jar","version":"","state":"ASIDE","services":[],
              "problems":["It is <b>refused</b>."],"access":"","sha256":"","signer":"","removable":false}]""";
    private static final String WHY = """
            {"choices":[{"kind":"backend","subject":"setting backend=auto","candidates":[
              {"name":"cpu-vector","bundle":"dev.tenon.backend.cpu.vector 0.1.0","taken":true,"reason":"rank 100"},
              {"name":"cuda","bundle":"dev.tenon.backend.cuda 0.1.0","taken":false,"reason":"no driver"}]}],
             "not_running":[]}""";

    private final List<String> commands = new CopyOnWriteArrayList<>();
    private final Semaphore slow = new Semaphore(0);
    private volatile byte[] installed;
    private volatile Path file;

    /// {@return the commands that changed or explained something, in order}
    List<String> commands() {
        return commands;
    }

    /// {@return the jar that was installed last}
    byte[] installed() {
        return installed;
    }

    /// {@return where it was}
    Path file() {
        return file;
    }

    /// Lets a slow jar be installed.
    void release() {
        slow.release();
    }

    @Override
    public String run(String command, String argument) {
        if (command.equals("list")) {
            return LIST;
        }
        commands.add(command);
        return switch (command) {
            case "why" -> WHY;
            case "remove" -> argument + " 1.2.0 was removed";
            case "install" -> install(Path.of(argument));
            default -> throw new AssertionError(command);
        };
    }

    private String install(Path jar) {
        file = jar;
        try {
            installed = Files.readAllBytes(jar);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (new String(installed, StandardCharsets.UTF_8).equals("slow")) {
            slow.acquireUninterruptibly();
        }
        if (new String(installed, StandardCharsets.UTF_8).equals("broken")) {
            throw new TenonException(ErrorCode.BUNDLE_FILE, jar + " is no jar");
        }
        return "org.example.format 1.2.0 was installed";
    }
}
