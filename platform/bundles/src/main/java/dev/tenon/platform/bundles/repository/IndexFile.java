package dev.tenon.platform.bundles.repository;

import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/// Reads the index of an OSGi repository (Repository Service Specification, XML schema 1.0), as bnd writes it.
final class IndexFile {
    /// Compares versions of bundles.
    static final Comparator<Resource> BY_VERSION = Comparator.comparing(Resource::version, IndexFile::compare);

    private static final String PACKAGE = "osgi.wiring.package";

    private IndexFile() {}

    /// A bundle of the index.
    ///
    /// @param name symbolic name
    /// @param version version
    /// @param url where the jar lies, perhaps from the index on
    /// @param sha256 its checksum in lower case
    /// @param packages filters of the packages that it needs
    record Resource(String name, String version, String url, String sha256, List<String> packages) {}

    /// Reads an index; resources that are no bundles, or without an address or a checksum, are left out.
    ///
    /// @param text its text
    /// @throws IOException if it is no index
    static List<Resource> read(String text) throws IOException {
        XMLInputFactory factory = XMLInputFactory.newFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        List<Resource> resources = new ArrayList<>();
        try {
            XMLStreamReader in = factory.createXMLStreamReader(new StringReader(text));
            in.nextTag();
            in.require(XMLStreamConstants.START_ELEMENT, null, "repository");
            Draft draft = new Draft();
            String namespace = "";
            while (in.hasNext()) {
                int event = in.next();
                if (event == XMLStreamConstants.END_ELEMENT) {
                    switch (in.getLocalName()) {
                        case "requirement" -> draft.endOfRequirement();
                        case "resource" -> {
                            draft.finish(resources);
                            draft = new Draft();
                        }
                        default -> {
                            // Nothing is kept of it.
                        }
                    }
                } else if (event == XMLStreamConstants.START_ELEMENT) {
                    switch (in.getLocalName()) {
                        case "capability", "requirement" ->
                            namespace = in.getLocalName() + " " + in.getAttributeValue(null, "namespace");
                        case "attribute", "directive" ->
                            draft.put(
                                    namespace + " " + in.getAttributeValue(null, "name"),
                                    in.getAttributeValue(null, "value"));
                        default -> {
                            // The resource itself, or an extension.
                        }
                    }
                }
            }
            return resources;
        } catch (XMLStreamException e) {
            throw new IOException(
                    "is not an index of an OSGi repository: " + e.getMessage().replaceAll("\\s+", " "), e);
        }
    }

    /// What was read of a resource so far.
    private static final class Draft {
        private final Map<String, String> values = new HashMap<>();
        private final List<String> packages = new ArrayList<>();

        void put(String key, String value) {
            values.put(key, value);
        }

        void endOfRequirement() {
            String filter = values.remove("requirement " + PACKAGE + " filter");
            String resolution = values.remove("requirement " + PACKAGE + " resolution");
            if (filter != null && !"optional".equals(resolution)) {
                packages.add(filter);
            }
        }

        void finish(List<Resource> resources) {
            String name = values.get("capability osgi.identity osgi.identity");
            String url = values.get("capability osgi.content url");
            String sha256 = values.get("capability osgi.content osgi.content");
            if (name != null && url != null && sha256 != null) {
                String version = values.getOrDefault("capability osgi.identity version", "0.0.0");
                resources.add(new Resource(name, version, url, sha256.toLowerCase(Locale.ROOT), List.copyOf(packages)));
            }
        }
    }

    /// Compares as OSGi does: three numbers, then the qualifier as text.
    private static int compare(String a, String b) {
        String[] left = a.split("\\.", 4);
        String[] right = b.split("\\.", 4);
        for (int i = 0; i < 3; i++) {
            int order = Integer.compare(number(left, i), number(right, i));
            if (order != 0) {
                return order;
            }
        }
        return (left.length > 3 ? left[3] : "").compareTo(right.length > 3 ? right[3] : "");
    }

    private static int number(String[] parts, int i) {
        return i < parts.length && parts[i].matches("\\d{1,9}") ? Integer.parseInt(parts[i]) : 0;
    }
}
