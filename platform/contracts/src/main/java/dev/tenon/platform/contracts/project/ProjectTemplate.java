package dev.tenon.platform.contracts.project;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/// A Maven archetype: the files of a project in which names are to be filled in.
///
/// What it makes is what the archetype plugin makes, byte for byte, as long as the templates contain
/// references such as `${className}` and no other instruction of Velocity.
public final class ProjectTemplate {
    private static final String DESCRIPTOR = "META-INF/maven/archetype-metadata.xml";
    private static final String FILES = "archetype-resources/";
    private static final Pattern REFERENCE = Pattern.compile("\\$\\{(\\w+)}");
    private static final Pattern IN_PATH = Pattern.compile("__(\\w+)__");

    private final Map<String, byte[]> files;
    private final Document descriptor;

    /// Reads an archetype.
    ///
    /// @param files all of its files by their path in the archetype's jar
    public ProjectTemplate(Map<String, byte[]> files) {
        this.files = new TreeMap<>(files);
        try {
            descriptor = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(new ByteArrayInputStream(files.get(DESCRIPTOR)));
        } catch (ParserConfigurationException | SAXException | IOException e) {
            throw new IllegalStateException("the archetype's descriptor cannot be read", e);
        }
    }

    /// Completes the names by the archetype's defaults, and checks all of them.
    ///
    /// @param given what is known
    /// @return a value for each property that the archetype has
    /// @throws TenonException (`CLI-001`) if a value is not as the archetype wants it
    public Map<String, String> values(Map<String, String> given) {
        Map<String, String> values = new LinkedHashMap<>();
        for (Element property : elements(descriptor.getDocumentElement(), "requiredProperty")) {
            String key = property.getAttribute("key");
            String value = given.containsKey(key) ? given.get(key) : text(property, "defaultValue");
            String pattern = text(property, "validationRegex");
            if (!pattern.isEmpty() && !value.matches(pattern)) {
                throw new TenonException(
                        ErrorCode.USAGE, key + " cannot be '" + value + "': it has to match " + pattern);
            }
            values.put(key, value);
        }
        return values;
    }

    /// Fills the templates in.
    ///
    /// @param values see [#values]
    /// @return the project's files by their path in its folder
    public Map<String, byte[]> make(Map<String, String> values) {
        Map<String, byte[]> made = new TreeMap<>();
        made.put("pom.xml", filled(files.get(FILES + "pom.xml"), values));
        for (Element set : elements(descriptor.getDocumentElement(), "fileSet")) {
            String folder = text(set, "directory");
            String source = FILES + (folder.isEmpty() ? "" : folder + "/");
            boolean packaged = set.getAttribute("packaged").equals("true");
            String target = (folder.isEmpty() ? "" : folder + "/")
                    + (packaged ? values.get("package").replace('.', '/') + "/" : "");
            List<String> included = elements(set, "include").stream()
                    .map(Element::getTextContent)
                    .toList();
            files.forEach((path, content) -> {
                if (path.startsWith(source) && isIncluded(path.substring(source.length()), included)) {
                    made.put(
                            target + replaced(IN_PATH, path.substring(source.length()), values),
                            set.getAttribute("filtered").equals("true") ? filled(content, values) : content);
                }
            });
        }
        return made;
    }

    private static boolean isIncluded(String path, List<String> included) {
        return included.isEmpty() || included.contains(path);
    }

    private static byte[] filled(byte[] template, Map<String, String> values) {
        return replaced(REFERENCE, new String(template, StandardCharsets.UTF_8), values)
                .getBytes(StandardCharsets.UTF_8);
    }

    /// Names that are not among the values are Maven's own, and stay.
    private static String replaced(Pattern pattern, String text, Map<String, String> values) {
        return pattern.matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(values.getOrDefault(found.group(1), found.group())));
    }

    private static String text(Element parent, String name) {
        return elements(parent, name).stream()
                .findFirst()
                .map(element -> element.getTextContent().strip())
                .orElse("");
    }

    private static List<Element> elements(Element parent, String name) {
        NodeList found = parent.getElementsByTagName(name);
        return IntStream.range(0, found.getLength())
                .mapToObj(i -> (Element) found.item(i))
                .toList();
    }
}
