package dev.tenon.platform.bundles.listing;

import dev.tenon.platform.cli.text.Json;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The installed bundles, as a table and as JSON.
public final class BundleTable {
    private static final Pattern COMMON_NAME = Pattern.compile("(?:^|,)CN=([^,]+)");
    private static final int SHORT_DIGEST = 12;

    private BundleTable() {}

    /// Prints a line a bundle: number, state, name, version, the digest's beginning, signer, what it says it
    /// reaches outside the JVM, and services; and below why it does not run.
    ///
    /// @param bundles what to print
    /// @param out where to
    public static void print(List<OsgiBundles.Info> bundles, PrintWriter out) {
        int name = width(bundles, OsgiBundles.Info::name);
        int signer = width(bundles, BundleTable::signer);
        int access = width(bundles, BundleTable::access);
        String format = "%4s %-10s %-" + name + "s %-12s %-12s %-" + signer + "s %-" + access + "s %s";
        for (OsgiBundles.Info bundle : bundles) {
            String digest = bundle.sha256().isEmpty() ? "-" : bundle.sha256().substring(0, SHORT_DIGEST);
            out.println(String.format(
                            format,
                            bundle.id() < 0 ? "-" : Long.toString(bundle.id()),
                            bundle.state(),
                            bundle.name(),
                            bundle.version(),
                            digest,
                            signer(bundle),
                            access(bundle),
                            String.join(", ", bundle.services()))
                    .stripTrailing());
            for (String problem : bundle.problems()) {
                out.println("                " + problem);
            }
        }
        if (bundles.isEmpty()) {
            out.println("All bundles are running.");
        }
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
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }
}
