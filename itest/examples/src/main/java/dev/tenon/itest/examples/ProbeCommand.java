package dev.tenon.itest.examples;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/// Loads models for as long as lines come in: `FILE BACKEND IDS OUT`, where IDS are token ids
/// separated by commas.
///
/// Writes the logits behind the last token to OUT and answers `done` with the names of the kernels,
/// or `refused` with the error's code and text. Keys and values are kept in float32.
@Command(name = "probe", description = "Loads models as standard input says.")
@Component(service = TenonCommand.class, scope = ServiceScope.PROTOTYPE, property = TenonCommand.NAME + "=probe")
public final class ProbeCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference
    Engine engine;

    /// Made by declarative services.
    public ProbeCommand() {}

    @Override
    public Integer call() throws IOException {
        console.out().println("ready");
        console.out().flush();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            console.out().println(answer(line.split(" ")));
            console.out().flush();
        }
        return 0;
    }

    private String answer(String[] words) {
        LoadRequest request = LoadRequest.builder(Path.of(words[0]))
                .backend(words[1])
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .build();
        int[] ids =
                Arrays.stream(words[2].split(",")).mapToInt(Integer::parseInt).toArray();
        try (LoadedModel model = engine.load(request);
                Session session = model.newSession()) {
            session.evaluate(ids, Rows.LAST, (index, logits) -> write(Path.of(words[3]), logits));
            return "done "
                    + model.report().kernels().stream()
                            .map(PlanReport.Kernel::kernel)
                            .distinct()
                            .toList();
        } catch (TenonException e) {
            return "refused " + e.getMessage().replace('\n', ' ');
        }
    }

    private static void write(Path file, float[] logits) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * logits.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(logits);
        try {
            Files.write(file, bytes.array());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
