package dev.tenon.kernels.nvidia.source;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/// The sources of this bundle, and what they are compiled with. Safe for any thread.
public final class KernelCatalogue {
    private static final Pattern INCLUDE = Pattern.compile("(?m)^\\s*#\\s*include\\s*\"([^\"]+)\"");
    private static final List<String> OPTIONS = List.of("--std=c++17");

    private static final String SOURCES = "/dev/tenon/kernels/nvidia/";
    private static final String PREBUILT_FILES = SOURCES + "prebuilt/";

    /// What prebuilt PTX is made for: every device can run it.
    private static final String PREBUILT = "compute_80";

    private KernelCatalogue() {}

    /// Reads a module's source and every header that it includes.
    ///
    /// @param module the module
    /// @param further texts that are not in this bundle, by name: headers, such as a third party's decoder, and
    ///     sources of whole modules
    /// @return the source
    /// @throws IllegalArgumentException if there is no such file
    public static CudaSource source(KernelModule module, Map<String, String> further) {
        String text = further.containsKey(module.file()) ? further.get(module.file()) : resource(module.file());
        if (text == null) {
            throw new IllegalArgumentException("there is no kernel source " + module.file());
        }
        Map<String, String> headers = new HashMap<>(further);
        List<String> open = new ArrayList<>(List.of(text));
        open.addAll(further.values());
        while (!open.isEmpty()) {
            Matcher matcher = INCLUDE.matcher(open.removeLast());
            while (matcher.find()) {
                String name = matcher.group(1);
                String header = headers.containsKey(name) ? null : resource(name);
                if (header != null) {
                    headers.put(name, header);
                    open.add(header);
                }
            }
        }
        return new CudaSource(module.name(), text, headers);
    }

    /// {@return the options of NVRTC for a module}
    ///
    /// @param module the module
    /// @param architecture what to compile for, such as `sm_90a` or `compute_80`
    public static List<String> options(KernelModule module, String architecture) {
        List<String> options = new ArrayList<>();
        options.add("--gpu-architecture=" + architecture);
        options.addAll(OPTIONS);
        options.addAll(module.options());
        return options;
    }

    /// {@return PTX of a module that was compiled when this bundle was built, for the oldest device;
    ///     the driver compiles it. What launches it must be planned for [DeviceTraits#asOldest]}
    ///
    /// @param module the module
    public static Optional<byte[]> prebuilt(KernelModule module) {
        return PtxFiles.read(
                        module.name(),
                        name -> Optional.ofNullable(KernelCatalogue.class.getResourceAsStream(
                                PREBUILT_FILES + name + "." + PREBUILT + ".ptx.gz")))
                .map(text -> text.getBytes(StandardCharsets.US_ASCII));
    }

    private static Optional<byte[]> unpacked(String name) {
        try (InputStream in = KernelCatalogue.class.getResourceAsStream(name)) {
            return in == null ? Optional.empty() : Optional.of(new GZIPInputStream(in).readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// {@return a module's machine code for sm_87 (Jetson Orin), if it was compiled when this bundle
    ///     was built}
    ///
    /// @param module the module
    public static Optional<byte[]> cubin(KernelModule module) {
        return unpacked(PREBUILT_FILES + cubinFile(module));
    }

    /// {@return the name of a file with a module's machine code for sm_87, gzipped}
    ///
    /// @param module the module
    public static String cubinFile(KernelModule module) {
        return module.name() + ".sm_87.cubin.gz";
    }

    /// The text of a resource, or null if there is none.
    private static String resource(String name) {
        if (name.contains("/")) {
            return null;
        }
        try (InputStream in = KernelCatalogue.class.getResourceAsStream(SOURCES + name)) {
            return in == null ? null : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
