package ${package};

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.cli.Console;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class ${className}Tests {
    private final StringWriter out = new StringWriter();
    private int[] tokens = {};

    /// Calls the command as the command line does, with a model that makes the same tokens of every text.
    private int run(String... arguments) {
        Tokenizer tokenizer = fake(Tokenizer.class, Map.of("encode", tokens));
        LoadedModel model = fake(LoadedModel.class, Map.of("tokenizer", tokenizer));
        Console console = fake(
                Console.class, Map.of("out", new PrintWriter(out), "model", Path.of("model.gguf"), "load", model));
        CommandLine root = new CommandLine(CommandSpec.wrapWithoutInspection(console));
        root.addSubcommand(new CommandLine(new ${className}()));
        root.setErr(new PrintWriter(out));
        String[] line = new String[arguments.length + 1];
        line[0] = "${id}";
        System.arraycopy(arguments, 0, line, 1, arguments.length);
        return root.execute(line);
    }

    /// An object whose methods give the same answer to every call, by their names; others give null.
    private static <T> T fake(Class<T> type, Map<String, Object> answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> answers.get(method.getName())));
    }

    @Test
    void tokensAreCounted() {
        tokens = new int[] {5, 6, 7};
        assertEquals(0, run("some text"));
        assertEquals("3 tokens" + System.lineSeparator(), out.toString());
    }

    @Test
    void withoutATextItIsNotRun() {
        assertEquals(2, run());
    }
}
