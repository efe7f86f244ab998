package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.kernels.nvidia.plan.KernelSupport;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.core.text.words.PreTokenizers;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The page `docs/support.md`: what compilers of backends answer about ops and formats, and in which formats
/// whole models are compared with golden data.
final class SupportPage {
    private static final Value X = new Value(0, "x", 256);
    private static final Value Y = new Value(1, "y", 256);
    private static final Weight MATRIX = new Weight("matrix", 256, 256);
    private static final Optional<Weight> NONE = Optional.empty();
    private static final Path GOLDEN = Path.of("../golden/src/test");

    /// Weights of one format, which are never read.
    ///
    /// @param format the format of matrices
    private record OneFormat(QuantFormat format) implements Weights {
        @Override
        public TensorInfo info(String name) {
            throw new UnsupportedOperationException(name);
        }

        @Override
        public QuantFormat format(String name) {
            return format;
        }

        @Override
        public MemorySegment data(String name) {
            throw new UnsupportedOperationException(name);
        }
    }

    private final Map<String, QuantFormat> formats = new TreeMap<>(OurFormatsIT.all());
    private final Device cpu;

    private SupportPage(Device cpu) {
        this.cpu = cpu;
    }

    /// {@return the page}
    ///
    /// @param renew the command that makes it
    static String text(String renew) throws IOException {
        Backend backend = ServiceLoader.load(Backend.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(each -> each.id().equals("cpu-vector"))
                .findFirst()
                .orElseThrow();
        try (Device cpu = backend.open(DeviceOptions.defaults())) {
            return new SupportPage(cpu).page(renew);
        }
    }

    private String page(String renew) throws IOException {
        ConformanceReports conformance = ConformanceReports.read();
        return """
                # Support

                A test makes this page from what compilers answer (`Compiler.supports`) and compares it. To renew it:

                ```
                %s
                ```

                **fast**: a kernel made for it. **generic**: runs without one: on the CPU in plain Java, on NVIDIA GPUs with weights decoded
                to F16 when they are loaded. **no**: refused with `BACKEND-002`; `auto` then takes another backend. `cuda` and `nv-tegra` give the
                same answers (`KernelSupport`). The backend contract compares every op and format that is not refused with a float64
                reference: in the build on the CPU, with `-Pall` on the emulated Orin, on a GPU with `tenon itest --backend cuda`.

                ## Ops

                | op | cpu-vector | cuda, nv-tegra |
                | --- | --- | --- |
                %s

                A decoded token takes five launches a dense layer on NVIDIA GPUs, and more where a layer has: norms after its blocks (one each), norms of
                whole queries and keys, or of values (one), LayerNorm (one each), heads of more than 256 elements (one), tokens that see what follows
                them, as in encoders (one). Other ops around these are launches of their own; products of one input in one format share a launch, three at a time.

                ## Conformance

                What `tenon itest --backend ID --suite all --report FILE.json` said last, with the files of `docs/reports/itest/`: cases that passed, and those that
                were skipped, for reasons that the files name. %s

                | suite | %s |
                | --- |%s
                %s

                ## Formats

                Products with a matrix in each format. The CPU backend prefers the machine code of `kernels/x86` where there is some. Golden blocks: the
                decoder is compared with blocks of another implementation. Written: `tenon quantize` writes the format.

                | format | type | bits per weight | golden blocks | written | cpu-vector | machine code | cuda, nv-tegra |
                | --- | --- | --- | --- | --- | --- | --- | --- |
                %s

                ## Architectures

                | bundle | serves |
                | --- | --- |
                %s

                The golden models of the project. Their logits are compared with a float64 forward pass: on the CPU with and without machine code,
                and with `-Pall` on the emulated Orin.

                | architecture | golden model | formats of its matrices |
                | --- | --- | --- |
                %s

                ## Tokenizers

                Kinds, `tokenizer.ggml.model`: %s. Others are refused with `MODEL-008`, and so is a name of `tokenizer.ggml.pre` that is not below. Whole words:
                one that is a token is not made of merges.

                | words are cut as by | `tokenizer.ggml.pre` |
                | --- | --- |
                %s

                ## Kernels of a layer

                On the CPU, for a decoded token as for a prompt, with each kind of layer of the golden models: five kernels for a dense layer and six with
                experts. %s

                | architecture | kernels | |
                | --- | --- | --- |
                %s
                """.formatted(
                        renew,
                        ops(),
                        conformance.machines(),
                        conformance.columns(),
                        " --- |".repeat(conformance.count()),
                        conformance.rows(),
                        formats(),
                        bundles(),
                        models(),
                        ServiceLoader.load(TokenizerProvider.class).stream()
                                .map(provider -> code(provider.get().model()))
                                .sorted()
                                .collect(Collectors.joining(", ")),
                        preTokenizers(),
                        manyKernels(),
                        layers());
    }

    private static String preTokenizers() {
        return PreTokenizers.rows().stream()
                .map(row -> "| " + row.words() + " | "
                        + row.names().stream().map(SupportPage::code).collect(Collectors.joining(", ")) + " |")
                .collect(Collectors.joining("\n"));
    }

    private static String code(String text) {
        return "`" + text + "`";
    }

    private String ops() {
        Map<String, Op> ops = OpsOfPage.opsAndVariants();
        Set<String> kinds = Stream.of(CoreOp.class, ExpertOp.class, PartOp.class, StateOp.class, RecurrentOp.class)
                .flatMap(group -> Stream.of(group.getDeclaredClasses()))
                .filter(type -> type.isRecord() && Op.class.isAssignableFrom(type))
                .map(type -> type.getSimpleName()
                        .replaceAll("(?<=[a-z])(?=[A-Z])", "_")
                        .toLowerCase(Locale.ROOT))
                .collect(Collectors.toCollection(TreeSet::new));
        kinds.addAll(List.of(
                "position_scale",
                "low_rank_add",
                "centred_convolution",
                "given_rows",
                "replace_rows",
                "join_rows",
                "select_positions",
                "selected_attention",
                "run_attention")); // stand alone
        assertEquals(kinds, ops.values().stream().map(Op::kind).collect(Collectors.toCollection(TreeSet::new)));
        ops.put("an op that a bundle defines, without a kernel", new OpsOfPage.Own());
        Weights weights = new OneFormat(formats.get("F32"));
        List<String> rows = new ArrayList<>();
        ops.forEach((name, op) -> {
            String onCpu = level(cpu.compiler().supports(op, weights, List.of()));
            String onGpu = level(KernelSupport.of(op, weights, List.of(), () -> false));
            rows.add("| " + name + " | " + onCpu + " | " + onGpu + " |");
        });
        return String.join("\n", rows);
    }

    private static String level(Support support) {
        return switch (support.level()) {
            case FAST -> "fast";
            case GENERIC -> "generic";
            case NONE -> "no: " + support.reason();
        };
    }

    private String formats() throws IOException {
        Set<String> machineCode = machineCode();
        List<String> rows = new ArrayList<>();
        for (QuantFormat format : formats.values()) {
            Op product = new CoreOp.Linear(X, MATRIX, NONE, Y);
            Weights weights = new OneFormat(format);
            boolean golden =
                    SupportPage.class.getResource("/golden/quant/dequant/" + format.id() + ".blocks.bin") != null;
            rows.add(Stream.of(
                            format.id(),
                            String.valueOf(format.ggmlType()),
                            String.format(Locale.ROOT, "%.4g", 8.0 * format.blockBytes() / format.blockSize())
                                    .replaceAll("\\.?0+$", ""),
                            golden ? "yes" : "no",
                            format.quantizer().isPresent() ? "yes" : "no",
                            level(cpu.compiler().supports(product, weights, List.of())),
                            machineCode.contains(format.id()) ? "yes" : "no",
                            level(KernelSupport.of(product, weights, List.of(), () -> false)))
                    .collect(Collectors.joining(" | ", "| ", " |")));
        }
        return String.join("\n", rows);
    }

    /// {@return the formats that `kernels/x86` multiplies}
    private Set<String> machineCode() throws IOException {
        URL jar = Jars.ours("kernels-x86").toUri().toURL();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar}, SupportPage.class.getClassLoader())) {
            List<Kernel> kernels = ServiceLoader.load(KernelProvider.class, loader).stream()
                    .flatMap(provider ->
                            formats.values().stream().flatMap(format -> provider.get().kernels(format).stream()))
                    .toList();
            assumeTrue(!kernels.isEmpty(), "kernels/x86 offers nothing on this processor, so it cannot be asked");
            return kernels.stream()
                    .filter(LinearKernel.class::isInstance)
                    .map(Kernel::format)
                    .collect(Collectors.toSet());
        }
    }

    private static String bundles() {
        return Jars.models().stream()
                .map(jar -> Jars.implementations(ModelArchitecture.class, List.of(jar)).stream()
                        .map(ModelArchitecture::id)
                        .sorted()
                        .collect(Collectors.joining(
                                "`, `", "| `" + Jars.attributes(jar).getValue("Bundle-SymbolicName") + "` | `", "` |")))
                .collect(Collectors.joining("\n"));
    }

    private String models() throws IOException {
        Set<String> rows = new TreeSet<>();
        try (Stream<Path> files = Files.list(GOLDEN.resolve("resources/golden/models"))) {
            for (Path path :
                    files.filter(file -> file.toString().endsWith(".gguf")).toList()) {
                try (GgufFile file = GgufReader.open(path, TensorTypes.of(formats.values()))) {
                    String matrices = file.tensors().stream()
                            .filter(tensor -> tensor.shape().size() > 1)
                            .map(this::format)
                            .distinct()
                            .sorted()
                            .collect(Collectors.joining(", "));
                    rows.add(Stream.of(
                                    file.metadata().requiredString("general.architecture"),
                                    path.getFileName().toString().replaceAll("\\.gguf$", ""),
                                    matrices)
                            .collect(Collectors.joining(" | ", "| ", " |")));
                }
            }
        }
        return String.join("\n", rows);
    }

    private static List<String[]> layerKernels() throws IOException {
        return Files.readAllLines(GOLDEN.resolve("resources/layer-kernels.txt")).stream()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split(": "))
                .toList();
    }

    private static int count(String[] layer) {
        return layer[1].split(" ").length;
    }

    /// {@return the architectures with layers that fall apart}
    private static String manyKernels() throws IOException {
        return layerKernels().stream()
                .filter(layer -> count(layer) > (layer[1].contains("expert") ? 7 : 5))
                .map(layer -> "`" + layer[0] + "`")
                .distinct()
                .collect(Collectors.joining(", ", "More, because some of their ops do not fuse: ", "."));
    }

    private static String layers() throws IOException {
        return layerKernels().stream()
                .map(layer -> "| " + layer[0] + " | " + count(layer) + " | "
                        + layer[1].replaceAll("[a-z_.]+", "`$0`").replace("` `", "`, `") + " |")
                .collect(Collectors.joining("\n"));
    }

    private String format(TensorInfo tensor) {
        return formats.values().stream()
                .filter(format -> format.ggmlType() == tensor.ggmlType())
                .findFirst()
                .orElseThrow()
                .id();
    }
}
