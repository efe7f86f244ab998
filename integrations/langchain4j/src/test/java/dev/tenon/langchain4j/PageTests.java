package dev.tenon.langchain4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIf;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/// The page `docs/langchain4j.md`: its snippets compile, and its table names the tests that are left out, and no other.
class PageTests {
    private static final Path PAGE = Path.of("../../docs/langchain4j.md");
    private static final Pattern SNIPPET = Pattern.compile("```java\n(.*?\n)```\n", Pattern.DOTALL);
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (`should_.*?) \\| ");
    private static final Pattern NAME = Pattern.compile("should_\\w+");
    private static final String IMPORTS = List.of(
                    "dev.langchain4j.agent.tool",
                    "dev.langchain4j.data.segment",
                    "dev.langchain4j.memory.chat",
                    "dev.langchain4j.model.chat",
                    "dev.langchain4j.model.chat.response",
                    "dev.langchain4j.model.embedding",
                    "dev.langchain4j.rag",
                    "dev.langchain4j.rag.content.aggregator",
                    "dev.langchain4j.rag.content.retriever",
                    "dev.langchain4j.service",
                    "dev.langchain4j.store.embedding",
                    "dev.langchain4j.store.embedding.inmemory",
                    "dev.tenon",
                    "java.time")
            .stream()
            .map(name -> "import " + name + ".*;\n")
            .collect(Collectors.joining("", "", "import java.util.List;\n"));

    @TempDir
    Path folder;

    @Test
    void snippetsCompile() throws IOException {
        List<String> arguments = new ArrayList<>(
                List.of("-proc:none", "-d", folder.toString(), "-cp", System.getProperty("java.class.path")));
        for (MatchResult snippet :
                SNIPPET.matcher(Files.readString(PAGE)).results().toList()) {
            Path file = folder.resolve("Snippet" + arguments.size() + ".java");
            Files.writeString(
                    file,
                    "package dev.tenon.langchain4j;\n" + IMPORTS + "class Snippet" + arguments.size()
                            + " {\nvoid run(Model model, Model encoder, Model reranker) throws Exception {\n"
                            + snippet.group(1).replace("try (Model model =", "try (Model loaded =")
                            + "}\n}\n");
            arguments.add(file.toString());
        }
        assertEquals(5, arguments.size() - 5, "snippets");
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        int status = ToolProvider.getSystemJavaCompiler().run(null, null, errors, arguments.toArray(String[]::new));
        assertEquals(0, status, errors.toString());
    }

    @Test
    void theTableNamesTheTestsThatAreLeftOut() throws Exception {
        Set<String> named = new TreeSet<>();
        for (MatchResult row : ROW.matcher(Files.readString(PAGE)).results().toList()) {
            NAME.matcher(row.group(1)).results().map(MatchResult::group).forEach(named::add);
        }
        Set<String> leftOut = new TreeSet<>();
        for (Class<?> tests : List.of(
                TenonChatModelTests.class,
                TenonStreamingChatModelTests.class,
                TenonChatModelListenerTests.class,
                TenonStreamingChatModelListenerTests.class,
                TenonEmbeddingModelTests.class,
                AiServiceTests.class,
                StreamingAiServiceTests.class,
                AiServiceWithJsonSchemaTests.class,
                AiServiceWithToolsTests.class)) {
            leftOut.addAll(leftOut(tests));
        }
        assertTrue(leftOut.size() > 10, leftOut.toString());
        assertEquals(leftOut, named);
    }

    private static Set<String> leftOut(Class<?> tests) throws ReflectiveOperationException {
        Constructor<?> constructor = tests.getDeclaredConstructor();
        constructor.setAccessible(true);
        Object instance = constructor.newInstance();
        Set<String> names = new TreeSet<>();
        for (Class<?> type = tests; type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                EnabledIf enabled = method.getAnnotation(EnabledIf.class);
                DisabledIf disabled = method.getAnnotation(DisabledIf.class);
                if (enabled != null && !holds(instance, enabled.value())
                        || disabled != null && holds(instance, disabled.value())) {
                    names.add(method.getName());
                }
            }
        }
        return names;
    }

    private static boolean holds(Object instance, String condition) throws ReflectiveOperationException {
        for (Class<?> type = instance.getClass(); type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().equals(condition) && method.getParameterCount() == 0) {
                    method.setAccessible(true);
                    return (boolean) method.invoke(instance);
                }
            }
        }
        throw new AssertionError(instance.getClass() + " has no " + condition);
    }
}
