package dev.tenon.platform.bundles.listing;

import dev.tenon.platform.cli.text.Json;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The installed bundles, as a table and as JSON.
public final class BundleTable {
    private static final Pattern COMMON_NAME = Pattern.compile("(?:^|,)CN=([^,]+)");
    private static final int SHORT_DIGEST = 12;
    private static final int COLUMNS = 80;
    private static final String INDENT = " ".repeat(13);

    private BundleTable() {}

    /// Prints a line a bundle: number, state, name and version; and below, in lines that are indented, the digest's
    /// beginning, signer, what it says it reaches outside the JVM, its services, and why it does not run.
    ///
    /// @param bundles what to print
    /// @param out where to
    public static void print(List<OsgiBundles.Info> bundles, PrintWriter out) {
        int name = width(bundles, OsgiBundles.Info::name);
        int state = width(bundles, OsgiBundles.Info::state);
        String format = "%3s %-" + state + "s %-" + name + "s %s";
        for (OsgiBundles.Info bundle : bundles) {
            out.println(String.format(
                    format,
                    bundle.id() < 0 ? "-" : Long.toString(bundle.id()),
                    bundle.state(),
                    bundle.name(),
                    bundle.version()));
            String digest = bundle.sha256().isEmpty() ? "-" : bundle.sha256().substring(0, SHORT_DIGEST);
            wrapped(
                            (digest + " " + signer(bundle) + " " + access(bundle) + " "
                                            + String.join(", ", bundle.services()))
                                    .strip(),
                            COLUMNS - INDENT.length())
                    .forEach(line -> out.println(INDENT + line));
            for (String problem : bundle.problems()) {
                out.println(INDENT + problem);
            }
        }
        if (bundles.isEmpty()) {
            out.println("All bundles are running.");
        }
    }

    private static List<String> wrapped(String text, int columns) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ")) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > columns) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        lines.add(line.toString());
        return lines;
    }

    private static int width(List<OsgiBundles.Info> bundles, Function<OsgiBundles.Info, String> column) {
        return Math.max(
                1, bundles.stream().map(column).mapToInt(String::length).max().orElse(1));
    }

    private static String signer(OsgiBundles.Info bundle) {
        Matcher name = COMMON_NAME.matcher(bundle.signer());
        return bundle.signer().isEmpty() ? "unsigned" : name.find() ? name.group(1) : bundle.signer();
    }

    private static String access(OsgiBundles.Info bundle) {
        return bundle.access().isEmpty() ? "-" : bundle.access().replaceAll("\\s*,\\s*", ",");
    }

    /// {@return the bundles as JSON}
    ///
    /// @param bundles what to tell
    public static String json(List<OsgiBundles.Info> bundles) {
        return Json.pretty(json -> {
            json.writeStartArray();
            for (OsgiBundles.Info bundle : bundles) {
                json.writeStartObject();
                json.writeNumberField("id", bundle.id());
                json.writeStringField("name", bundle.name());
                json.writeStringField("version", bundle.version());
                json.writeStringField("state", bundle.state());
                json.writeArrayFieldStart("services");
                for (String service : bundle.services()) {
                    json.writeString(service);
                }
                json.writeEndArray();
                json.writeArrayFieldStart("problems");
                for (String problem : bundle.problems()) {
                    json.writeString(problem);
                }
                json.writeEndArray();
                json.writeStringField("access", bundle.access());
                json.writeStringField("sha256", bundle.sha256());
                json.writeStringField("signer", bundle.signer());
                json.writeBooleanField("removable", bundle.removable());
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }
}
