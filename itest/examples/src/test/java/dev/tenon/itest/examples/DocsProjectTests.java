package dev.tenon.itest.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// Writes the files of `docs/write-your-own-bundle.md` out; the build builds and tests them afterwards.
class DocsProjectTests {
    private static final Pattern FILE = Pattern.compile("<!-- file: (\\S+) -->\n```\\w+\n(.*?\n)```\n", Pattern.DOTALL);

    @Test
    void thePageHoldsAWholeProject() throws Exception {
        String page = Files.readString(Path.of("../../docs/write-your-own-bundle.md"));
        Map<String, String> files = new TreeMap<>();
        Matcher matcher = FILE.matcher(page);
        while (matcher.find()) {
            files.put(matcher.group(1), matcher.group(2));
        }
        assertEquals(
                Set.of(
                        "pom.xml",
                        "src/main/java/com/example/myformat/MyFormat.java",
                        "src/test/java/com/example/myformat/MyFormatTests.java"),
                files.keySet());
        Path project = Path.of("target/docs/my-format");
        for (Map.Entry<String, String> file : files.entrySet()) {
            Path target = project.resolve(file.getKey());
            Files.createDirectories(target.getParent());
            Files.writeString(target, file.getValue());
        }
    }
}
