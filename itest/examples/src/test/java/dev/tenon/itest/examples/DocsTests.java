package dev.tenon.itest.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The page `docs/write-your-own-bundle.md` shows what `tenon new format my-format` makes.
class DocsTests {
    private static final Path PAGE = Path.of("../../docs/write-your-own-bundle.md");
    private static final Path TEMPLATES =
            Path.of("../../examples/archetypes/format/src/main/resources/archetype-resources");
    private static final Pattern FILE = Pattern.compile("<!-- file: (\\S+) -->\n```\\w+\n(.*?\n)```\n", Pattern.DOTALL);

    private static String made(String template) throws Exception {
        return Files.readString(TEMPLATES.resolve(template))
                .replace("${package}", "com.example.myformat")
                .replace("${className}", "MyFormat")
                .replace("${id}", "MY_FORMAT")
                .replace("${number}", "644503");
    }

    @Test
    void thePageShowsTheArchetypesFormatAndItsContract() throws Exception {
        Map<String, String> files = new TreeMap<>();
        Matcher matcher = FILE.matcher(Files.readString(PAGE));
        while (matcher.find()) {
            files.put(matcher.group(1), matcher.group(2));
        }
        String main = "src/main/java/com/example/myformat/MyFormat.java";
        String test = "src/test/java/com/example/myformat/MyFormatTests.java";
        assertEquals(Set.of(main, test), files.keySet());
        assertEquals(made("src/main/java/__className__.java"), files.get(main));
        assertEquals(made("src/test/java/__className__Tests.java"), files.get(test));
    }

    @ParameterizedTest
    @ValueSource(strings = {"format", "model", "backend", "command", "endpoint"})
    void thePageNamesTheKind(String kind) throws Exception {
        assertTrue(Files.readString(PAGE).contains("`tenon new " + kind + "`"), "not named");
    }

    @ParameterizedTest
    @ValueSource(strings = {"model", "backend"})
    void thePomIsThatOfAFormat(String kind) throws Exception {
        assertEquals(read("", "pom.xml"), read("../" + kind + "/", "pom.xml"));
    }

    private static String read(String archetype, String file) throws Exception {
        return Files.readString(Path.of("../../examples/archetypes/format", archetype)
                .resolve("src/main/resources/archetype-resources")
                .resolve(file));
    }
}
