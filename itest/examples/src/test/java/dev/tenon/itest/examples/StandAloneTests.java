package dev.tenon.itest.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/// Each example is a project as a stranger has it: no parent, and of this house only the api and
/// the contracts.
class StandAloneTests {
    private static final Path EXAMPLES = Path.of("../../examples");

    static Stream<Path> poms() throws Exception {
        try (Stream<Path> folders = Files.list(EXAMPLES)) {
            List<Path> poms = folders.map(folder -> folder.resolve("pom.xml"))
                    .filter(Files::exists)
                    .sorted()
                    .toList();
            assertTrue(poms.size() >= 3, poms.toString());
            return poms.stream();
        }
    }

    private static Document parse(Path pom) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
    }

    private static String text(Element element, String child) {
        NodeList found = element.getElementsByTagName(child);
        return found.getLength() == 0 ? "" : found.item(0).getTextContent().strip();
    }

    @ParameterizedTest
    @MethodSource("poms")
    void itNeedsOnlyTheApiAndTheContracts(Path pom) throws Exception {
        Document project = parse(pom);
        assertEquals(0, project.getElementsByTagName("parent").getLength(), "parents in " + pom);
        List<String> ours = new ArrayList<>();
        NodeList dependencies = project.getElementsByTagName("dependency");
        for (int i = 0; i < dependencies.getLength(); i++) {
            Element dependency = (Element) dependencies.item(i);
            if (text(dependency, "groupId").equals("dev.tenon")) {
                ours.add(text(dependency, "artifactId") + " " + text(dependency, "scope"));
            }
        }
        assertEquals(List.of("tenon-api ", "tenon-itest-testkit test"), ours, pom.toString());
    }

    @ParameterizedTest
    @MethodSource("poms")
    void itIsBuiltAgainstThisVersion(Path pom) throws Exception {
        String version = text(parse(Path.of("pom.xml")).getDocumentElement(), "version");
        assertEquals(version, text(parse(pom).getDocumentElement(), "tenon.version"), pom.toString());
    }

    @ParameterizedTest
    @MethodSource("poms")
    void itHasAReadmeAndNamesTheHousesVersionsOfThePlugins(Path pom) throws Exception {
        assertTrue(Files.exists(pom.resolveSibling("README.md")), "no README.md beside " + pom);
        String root = Files.readString(Path.of("../../pom.xml")).replaceAll("\\s+", "");
        Document project = parse(pom);
        NodeList plugins = project.getElementsByTagName("plugin");
        for (int i = 0; i < plugins.getLength(); i++) {
            Element plugin = (Element) plugins.item(i);
            String id = text(plugin, "artifactId");
            String version = text(plugin, "version");
            Set<String> either = Set.of(
                    "<artifactId>" + id + "</artifactId><version>" + version + "</version>",
                    "<bnd.version>" + version + "</bnd.version>");
            assertTrue(
                    either.stream().anyMatch(root::contains), id + " " + version + " is not what the root pom names");
        }
    }
}
