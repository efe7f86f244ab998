package dev.tenon.itest.framework;

import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.engine.LoadedModel;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;

/// What a loaded model holds outside the heap, and the threads that serve it. Two of them can be compared.
///
/// @param allocated bytes that the device has given the plan
/// @param bound bytes of weights that the plan reads where they are mapped
/// @param nativeKib memory of all native arenas of the process, in KiB; 0 if the JVM was started without
///     `-XX:NativeMemoryTracking=summary`
/// @param mappings how often the model's file is mapped; 0 where the system does not tell
/// @param codeKib memory for machine code that no file holds, in KiB; 0 where the system does not tell. Bytes
///     and not mappings: the system joins neighbours to one mapping where it can
/// @param threads threads of the platform and its bundles
record Footprint(long allocated, long bound, long nativeKib, long mappings, long codeKib, long threads) {
    private static final Path MAPS = Path.of("/proc/self/maps");
    private static final Pattern CODE = Pattern.compile("(\\p{XDigit}+)-(\\p{XDigit}+) r-xp 0+ 00:00 0\\s*");
    /// The JVM files the memory of native arenas under this name.
    private static final Pattern ARENAS = Pattern.compile("Other \\(reserved=\\d+KB, committed=(\\d+)KB\\)");

    static Footprint of(LoadedModel model) throws Exception {
        MemoryUse memory = model.report().memory();
        return new Footprint(
                memory.allocatedBytes(), memory.boundBytes(), arenas(), mapped(), machineCode(), threadsOf("tenon-"));
    }

    /// Waits until no plan warms up its kernels.
    static void awaitWarmUp() throws Exception {
        Osgi.await("the warm-up ends", () -> threadsOf("tenon-warmup") == 0);
    }

    /// The same when kernels are no longer being warmed up in the background, and two looks in a row find the same.
    static Footprint settled(LoadedModel model) throws Exception {
        awaitWarmUp();
        Footprint[] last = {collected(model)};
        Osgi.await("the footprint stays what it is", () -> {
            Footprint before = last[0];
            last[0] = collected(model);
            return last[0].equals(before);
        });
        return last[0];
    }

    /// Waits for what ends a moment after a device was closed: threads, buffers of threads.
    ///
    /// @return `expected`, or what is found in its place after a minute
    static Footprint await(Footprint expected, LoadedModel model) throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        Footprint found = settled(model);
        while (!found.equals(expected) && System.nanoTime() < end) {
            Thread.sleep(20);
            found = collected(model);
        }
        return found;
    }

    /// A look after a collection, which frees what the JVM kept off the heap for threads that have ended.
    private static Footprint collected(LoadedModel model) throws Exception {
        System.gc();
        return of(model);
    }

    private static long arenas() throws JMException {
        String summary = (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "vmNativeMemory",
                        new Object[] {new String[] {"summary"}},
                        new String[] {String[].class.getName()});
        Matcher matcher = ARENAS.matcher(summary);
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    /// {@return how often the model's file is mapped into this process; 0 where the system does not tell}
    static long mapped() throws IOException {
        return maps().stream()
                .filter(line -> line.endsWith(Jars.model().getFileName().toString()))
                .count();
    }

    private static long machineCode() throws IOException {
        return maps().stream()
                .map(CODE::matcher)
                .filter(Matcher::matches)
                .mapToLong(m -> (Long.parseUnsignedLong(m.group(2), 16) - Long.parseUnsignedLong(m.group(1), 16)) >> 10)
                .sum();
    }

    private static List<String> maps() throws IOException {
        if (!Files.exists(MAPS)) {
            return List.of();
        }
        try (Stream<String> lines = Files.lines(MAPS)) {
            return lines.toList();
        }
    }

    private static long threadsOf(String prefix) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(prefix))
                .count();
    }
}
