package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The pom that builds of others import, for the versions that go together.
class PomsIT {
    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    private final Pom root = Pom.read(ROOT.resolve("pom.xml"));
    private final Pom bom = Pom.read(ROOT.resolve("integrations/bom/pom.xml"));

    PomsIT() throws IOException {}

    @Test
    void itManagesWhatIsPublishedAndNoMore() throws IOException {
        Set<String> published = new TreeSet<>();
        addPublished(ROOT, published);
        assertTrue(published.size() > 40, published.toString());
        List<String> managed = bom.all("dependencyManagement/dependencies/dependency").stream()
                .map(each -> each.text("groupId") + ":" + each.text("artifactId") + ":" + each.text("type") + ":"
                        + each.text("version"))
                .sorted()
                .toList();
        assertEquals(List.copyOf(published), managed);
    }

    /// Adds what others depend on: no parents, and no archetypes, of which projects are made.
    private static void addPublished(Path folder, Set<String> published) throws IOException {
        Pom pom = Pom.read(folder.resolve("pom.xml"));
        List<Pom> modules = new ArrayList<>(pom.all("modules/module"));
        modules.addAll(pom.all("profiles/profile/modules/module"));
        boolean kept = Stream.of("maven.install.skip", "maven.deploy.skip")
                .anyMatch(skip -> pom.text("properties/" + skip).equals("true"));
        String packaging = pom.text("packaging");
        String artifact = pom.text("artifactId");
        if (modules.isEmpty() && !kept && !packaging.equals("maven-archetype") && !artifact.equals("tenon-bom")) {
            published.add("dev.tenon:" + artifact + ":" + packaging + ":${project.version}");
        }
        for (Pom module : modules) {
            addPublished(folder.resolve(module.text()), published);
        }
    }

    /// A parent's versions would be those of the other builds, too.
    @Test
    void itHasNoParentAndRepeatsWhatItWouldHaveFromIt() {
        assertEquals("", bom.text("parent"));
        for (String name : List.of("groupId", "version", "url", "licenses", "developers", "scm")) {
            assertEquals(root.text(name), bom.text(name), name);
        }
        Set<String> plugins = plugins(bom);
        assertTrue(plugins.size() > 1, plugins.toString());
        assertTrue(plugins(root).containsAll(plugins), "the root pom has other versions of " + plugins);
    }

    private static Set<String> plugins(Pom pom) {
        return pom.below("plugin").stream()
                .map(plugin -> plugin.text("artifactId") + ":" + plugin.text("version"))
                .collect(Collectors.toSet());
    }
}
