package dev.tenon.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.Model;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What `docs/spring.md` says of properties and in Java is so.
class PageTests {
    private static final Path PAGE = Path.of("../../docs/spring.md");
    private static final Pattern PIECE = Pattern.compile("```java\n(.*?)\n```", Pattern.DOTALL);
    private static final String BEGIN = """
            import java.time.*;
            import java.util.*;
            import dev.tenon.spring.*;
            import org.springframework.ai.chat.client.*;
            import org.springframework.ai.document.*;
            import org.springframework.ai.embedding.*;
            import org.springframework.ai.tool.annotation.*;
            import org.springframework.ai.vectorstore.*;
            import reactor.core.publisher.*;
            public class Piece {
                public static String run(ChatClient.Builder builder, EmbeddingModel embeddingModel) {
            """;
    private static final String END =
            "\nreturn String.join(\"|\", answer, hero.name(), time, found.getFirst().getText());\n}\n}\n";

    @TempDir
    Path folder;

    private static JsonNode metadata() throws Exception {
        try (InputStream in =
                TenonProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            return JsonMapper.shared().readTree(in).get("properties");
        }
    }

    @Test
    void theMetadataNamesEachProperty() throws Exception {
        List<String> expected = new ArrayList<>(names("tenon.", TenonProperties.class));
        expected.remove("tenon.embedding");
        expected.addAll(names("tenon.embedding.", TenonProperties.Embedding.class));
        assertThat(metadata())
                .extracting(each -> each.get("name").asString())
                .containsExactlyInAnyOrderElementsOf(expected);
        assertThat(metadata())
                .allSatisfy(
                        each -> assertThat(each.get("description").asString()).endsWith("."));
    }

    private static List<String> names(String prefix, Class<?> properties) {
        return List.of(properties.getRecordComponents()).stream()
                .map(RecordComponent::getName)
                .map(name -> prefix + name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT))
                .peek(ConfigurationPropertyName::of)
                .toList();
    }

    @Test
    void thePageHasTheTableOfTheMetadata() throws Exception {
        StringBuilder table = new StringBuilder();
        for (JsonNode each : metadata()) {
            JsonNode value = each.get("defaultValue");
            table.append("| `" + each.get("name").asString() + "` | " + (value == null ? "" : "`" + value + "`") + " | "
                    + each.get("description").asString() + " |\n");
        }
        assertThat(Files.readString(PAGE)).contains(table);
    }

    @Test
    void thePagesJavaRuns() throws Exception {
        String pieces = PIECE.matcher(Files.readString(PAGE))
                .results()
                .map(piece -> piece.group(1))
                .collect(Collectors.joining("\n"));
        Path source = Files.writeString(folder.resolve("Piece.java"), BEGIN + pieces + END);
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        String path = System.getProperty("java.class.path");
        int status = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        messages,
                        messages,
                        "-parameters",
                        "-proc:none",
                        "-cp",
                        path,
                        "-d",
                        folder.toString(),
                        source.toString());
        assertThat(status).as(messages.toString()).isZero();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        TenonAutoConfiguration.class,
                        TenonChatAutoConfiguration.class,
                        TenonEmbeddingAutoConfiguration.class,
                        ChatClientAutoConfiguration.class))
                .withBean(Story.class)
                .withPropertyValues(
                        "tenon.model=" + Story.FILE,
                        "tenon.context-length=1024",
                        "tenon.embedding.model=" + Story.ENCODER)
                .run(beans -> {
                    beans.getBean(Story.class)
                            .replies(
                                    "Blue.",
                                    "{\"age\":9,\"friends\":[],\"name\":\"Lily\"}",
                                    Story.call("time", "{\"city\": \"Paris\"}"),
                                    "Noon.");
                    try (URLClassLoader loader =
                            new URLClassLoader(new URL[] {folder.toUri().toURL()}, Model.class.getClassLoader())) {
                        Object said = loader.loadClass("Piece")
                                .getMethod("run", ChatClient.Builder.class, EmbeddingModel.class)
                                .invoke(
                                        null,
                                        beans.getBean(ChatClient.Builder.class),
                                        beans.getBean(EmbeddingModel.class));
                        assertThat(said).isEqualTo("Blue.|Lily|Noon.|The ship sails at nine.");
                    }
                });
    }
}
