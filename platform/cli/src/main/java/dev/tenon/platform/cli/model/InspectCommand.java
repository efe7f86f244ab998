package dev.tenon.platform.cli.model;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.text.Json;
import dev.tenon.platform.cli.text.Sizes;
import dev.tenon.platform.core.control.Definitions;
import dev.tenon.platform.core.control.Origins;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorType;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.PrintWriter;
import java.lang.reflect.Array;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `tenon inspect`: what is in a GGUF file, and which bundles it needs.
@Command(
        name = "inspect",
        description = "Shows metadata and tensors of a GGUF file, and which bundles it needs.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon inspect model.gguf",
            "  tenon inspect --no-tensors model.gguf",
            "  tenon inspect --json m.gguf"
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=inspect",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class InspectCommand implements TenonCommand {
    private static final int SHOWN_ELEMENTS = 6;
    private static final int SHOWN_CHARACTERS = 90;
    private static final String NOBODY = "nothing installed";

    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "FILE",
            description = "A GGUF file, or the name of a pulled model (default: the configured one).")
    private String file;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Option(names = "--no-tensors", description = "Do not list the tensors.")
    private boolean noTensors;

    @Override
    public Integer call() {
        List<QuantFormat> formats = engine == null ? List.of() : engine.formats();
        TensorTypes types = TensorTypes.of(formats);
        try (GgufFile gguf = GgufReader.open(console.model(file), types)) {
            if (json) {
                console.out().println(json(gguf, types));
            } else {
                print(gguf, types);
            }
        }
        return 0;
    }

    private void print(GgufFile gguf, TensorTypes types) {
        PrintWriter out = console.out();
        long parameters =
                gguf.tensors().stream().mapToLong(TensorInfo::elements).sum();
        out.println(gguf.path() + ": GGUF v" + gguf.version() + ", " + Sizes.bytes(gguf.sizeBytes()) + ", "
                + gguf.tensors().size() + " tensors, " + Sizes.parameters(parameters) + " parameters");
        out.println();
        out.println("Metadata");
        Map<String, GgufValue> metadata = gguf.metadata().values();
        int width = metadata.keySet().stream().mapToInt(String::length).max().orElse(1);
        metadata.forEach((key, value) ->
                out.printf("  %-" + width + "s  %-11s %s%n", key, typeName(value), shorten(value.value())));
        if (!noTensors && !gguf.tensors().isEmpty()) {
            out.println();
            out.println("Tensors");
            int names = gguf.tensors().stream()
                    .mapToInt(t -> t.name().length())
                    .max()
                    .orElse(1);
            for (TensorInfo tensor : gguf.tensors()) {
                out.printf(
                        "  %-" + names + "s  %-7s %-22s %12s%n",
                        tensor.name(),
                        typeName(tensor, types),
                        tensor.shape(),
                        Sizes.bytes(tensor.sizeBytes()));
            }
        }
        out.println();
        out.println("Served by");
        out.printf("  architecture %-12s %s%n", architecture(gguf), architectureOrigin(gguf));
        List<String> unread = unreadKeys(gguf);
        if (!unread.isEmpty()) {
            out.println("  keys that this version does not read: " + String.join(", ", unread));
        }
        long bytes = gguf.tensors().stream().mapToLong(TensorInfo::sizeBytes).sum();
        totals(gguf, types)
                .forEach((type, total) -> out.printf(
                        Locale.ROOT,
                        "  format       %-12s %s  (%d tensors, %s, %.1f %% of the bytes, %.1f %% of the parameters)%n",
                        type,
                        formatOrigin(type),
                        total.count(),
                        Sizes.bytes(total.bytes()),
                        100.0 * total.bytes() / bytes,
                        100.0 * total.parameters() / parameters));
    }

    private String json(GgufFile gguf, TensorTypes types) {
        return Json.pretty(json -> {
            json.writeStartObject();
            json.writeStringField("file", gguf.path().toString());
            json.writeNumberField("version", gguf.version());
            json.writeNumberField("size_bytes", gguf.sizeBytes());
            json.writeNumberField(
                    "parameters",
                    gguf.tensors().stream().mapToLong(TensorInfo::elements).sum());
            json.writeObjectFieldStart("metadata");
            for (Map.Entry<String, GgufValue> entry : gguf.metadata().values().entrySet()) {
                json.writeFieldName(entry.getKey());
                writeValue(json, entry.getValue().value());
            }
            json.writeEndObject();
            if (!noTensors) {
                json.writeArrayFieldStart("tensors");
                for (TensorInfo tensor : gguf.tensors()) {
                    json.writeStartObject();
                    json.writeStringField("name", tensor.name());
                    json.writeStringField("type", typeName(tensor, types));
                    json.writeArrayFieldStart("shape");
                    for (long length : tensor.shape()) {
                        json.writeNumber(length);
                    }
                    json.writeEndArray();
                    json.writeNumberField("offset_bytes", tensor.offsetBytes());
                    json.writeNumberField("size_bytes", tensor.sizeBytes());
                    json.writeEndObject();
                }
                json.writeEndArray();
            }
            json.writeObjectFieldStart("formats");
            for (Map.Entry<String, Total> entry : totals(gguf, types).entrySet()) {
                json.writeObjectFieldStart(entry.getKey());
                json.writeNumberField("tensors", entry.getValue().count());
                json.writeNumberField("parameters", entry.getValue().parameters());
                json.writeNumberField("size_bytes", entry.getValue().bytes());
                json.writeEndObject();
            }
            json.writeEndObject();
            json.writeObjectFieldStart("served_by");
            json.writeStringField("architecture", architectureOrigin(gguf));
            json.writeArrayFieldStart("unread_keys");
            for (String key : unreadKeys(gguf)) {
                json.writeString(key);
            }
            json.writeEndArray();
            json.writeObjectFieldStart("formats");
            for (String type : totals(gguf, types).keySet()) {
                json.writeStringField(type, formatOrigin(type));
            }
            json.writeEndObject();
            json.writeEndObject();
            json.writeEndObject();
        });
    }

    private static void writeValue(com.fasterxml.jackson.core.JsonGenerator json, Object value)
            throws java.io.IOException {
        switch (value) {
            case GgufValue nested -> writeValue(json, nested.value());
            case String text -> json.writeString(text);
            case Boolean bool -> json.writeBoolean(bool);
            case Float number -> json.writeNumber(number);
            case Double number -> json.writeNumber(number);
            case Number number -> json.writeNumber(number.longValue());
            default -> {
                json.writeStartArray();
                for (int i = 0; i < Array.getLength(value); i++) {
                    writeValue(json, Array.get(value, i));
                }
                json.writeEndArray();
            }
        }
    }

    record Total(long count, long parameters, long bytes) {}

    static Map<String, Total> totals(GgufFile gguf, TensorTypes types) {
        return gguf.tensors().stream()
                .collect(Collectors.toMap(
                        t -> typeName(t, types),
                        t -> new Total(1, t.elements(), t.sizeBytes()),
                        (a, b) -> new Total(
                                a.count() + b.count(), a.parameters() + b.parameters(), a.bytes() + b.bytes()),
                        TreeMap::new));
    }

    private static String architecture(GgufFile gguf) {
        return gguf.metadata().string("general.architecture").orElse("(none)");
    }

    private Optional<ModelArchitecture> serving(GgufFile gguf) {
        return engine == null
                ? Optional.empty()
                : engine.architectures().stream()
                        .filter(a -> a.id().equals(architecture(gguf)))
                        .findFirst();
    }

    private String architectureOrigin(GgufFile gguf) {
        return serving(gguf).map(Origins::of).orElse(NOBODY);
    }

    private List<String> unreadKeys(GgufFile gguf) {
        return serving(gguf).map(a -> Definitions.unreadKeys(a, gguf)).orElse(List.of());
    }

    private String formatOrigin(String type) {
        Optional<QuantFormat> found = engine == null
                ? Optional.empty()
                : engine.formats().stream().filter(f -> f.id().equals(type)).findFirst();
        return found.map(Origins::of).orElse(NOBODY);
    }

    private static String typeName(TensorInfo tensor, TensorTypes types) {
        return types.find(tensor.ggmlType()).map(TensorType::name).orElse("type " + tensor.ggmlType());
    }

    private static String typeName(GgufValue value) {
        return value.type() == GgufType.ARRAY
                ? value.elementType() + "[]"
                : value.type().toString();
    }

    /// {@return a value for a table: long arrays and texts are cut}
    ///
    /// @param value a metadata value
    static String shorten(Object value) {
        if (value instanceof GgufValue nested) {
            return shorten(nested.value());
        }
        if (!value.getClass().isArray()) {
            String text = value.toString()
                    .replace("\\", "\\\\")
                    .replace("\n", "\\n")
                    .replace("\r", "\\r")
                    .replace("\t", "\\t")
                    .replaceAll("\\p{Cntrl}", "\uFFFD");
            return text.length() <= SHOWN_CHARACTERS
                    ? text
                    : text.substring(0, SHOWN_CHARACTERS) + "... (" + text.length() + " characters)";
        }
        int n = Array.getLength(value);
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < Math.min(n, SHOWN_ELEMENTS); i++) {
            text.append(i == 0 ? "" : ", ").append(shorten(Array.get(value, i)));
        }
        return text.append(n > SHOWN_ELEMENTS ? ", ...] (" + n + " elements)" : "]")
                .toString();
    }
}
