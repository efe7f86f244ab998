package dev.tenon.platform.server.llamacpp;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.core.control.ScheduledModel;
import dev.tenon.platform.core.files.OutputFile;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.generation.Generations;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ServedModel;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// `POST /slots/{id}?action=save|restore|erase`: keeps what was computed for a slot in a file, and brings it back, for
/// whoever asked. A slot is a name for tokens, those of the last request with its `id_slot`; what was computed of them
/// lies in the model's memory, where prompts that begin alike find it.
///
/// A file has the number of tokens and each of them, then the session as the engine writes it.
public final class SlotEndpoints {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of("filename model", "", Map.of());

    private static final String ID = "id_slot";
    private static final double NANOS_PER_MILLI = 1e6;
    /// Tokens that run again when a file is read: the last one of any prompt does, and one that makes it a prompt.
    private static final int AGAIN = 2;

    private final Generations generations;
    private final Path folder;
    private final Map<Slot, int[]> slots = new ConcurrentHashMap<>();

    private record Slot(String model, String group, int id) {}

    /// @param generations runs generations
    /// @param folder where files are; null where none are kept
    SlotEndpoints(Generations generations, Path folder) {
        this.generations = generations;
        this.folder = folder;
    }

    /// {@return the slot that a request names; -1 if it names none}
    ///
    /// @param body the request
    /// @param served has the slots
    static int slot(Body body, ServedModel served) {
        return (int) body.whole(ID, -1, served.admission().places() - 1, -1);
    }

    /// Notes the tokens of a request and its reply.
    ///
    /// @param slot as above
    void used(Exchange exchange, ServedModel served, int slot, int[] tokens) {
        if (folder != null && slot >= 0) {
            slots.put(new Slot(served.spec().name(), exchange.principal(), slot), tokens);
        }
    }

    /// Answers.
    void handle(Exchange exchange) throws InterruptedException {
        String action = String.valueOf(exchange.parameter("action"));
        Body body = Body.of(exchange.body());
        FIELDS.check(body.node());
        ServedModel served = generations.model(body.text("model"));
        Slot slot = new Slot(served.spec().name(), exchange.principal(), id(exchange, served));
        if (folder == null) {
            throw RequestException.unsupported(
                    null, "Slots are not kept here. Start the server with --slot-save-path FOLDER.");
        }
        exchange.interruptWhenClientLeaves();
        switch (action) {
            case "save" -> exchange.json(save(exchange, served, slot, file(body)));
            case "restore" -> exchange.json(restore(exchange, served, slot, file(body)));
            case "erase" -> {
                int[] erased = slots.remove(slot);
                exchange.json(Json.object().put(ID, slot.id()).put("n_erased", erased == null ? 0 : erased.length));
            }
            default ->
                throw RequestException.invalid(
                        "action", "action is " + Exchange.printable(action) + "; expected save, restore or erase.");
        }
    }

    private static int id(Exchange exchange, ServedModel served) {
        int places = served.admission().places();
        String id = exchange.rest();
        if (!id.matches("\\d{1,6}") || Integer.parseInt(id) >= places) {
            throw RequestException.notFound(
                    "not_found",
                    "There is no slot " + Exchange.printable(id) + "; there are slots 0 to " + (places - 1) + ".");
        }
        return Integer.parseInt(id);
    }

    /// {@return the file of a request: a name in the folder, and nothing else}
    private Path file(Body body) {
        String name = body.requiredText("filename");
        if (!name.matches("[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}")) {
            throw RequestException.invalid(
                    "filename",
                    "filename is " + Exchange.printable(name)
                            + "; expected a name of up to 200 letters, digits, points, '-' and '_'.");
        }
        return folder.resolve(name);
    }

    private ObjectNode save(Exchange exchange, ServedModel served, Slot slot, Path file) throws InterruptedException {
        int[] tokens = slots.get(slot);
        if (tokens == null) {
            throw RequestException.invalid(null, "Slot " + slot.id() + " holds nothing: no request named it.");
        }
        if (Arrays.stream(tokens).anyMatch(token -> token < 0)) {
            throw RequestException.unsupported(
                    null,
                    "Slot " + slot.id() + " has pictures or sounds, and a file of a slot has tokens alone. Send its"
                            + " prompt again: what is still computed of it is found.");
        }
        long begin = System.nanoTime();
        try (ServedModel.Lease lease = served.lease();
                Generations.Turn turn = generations.enter(exchange, served, 0);
                Session session = Generations.whenFree(lease.model()::newSession);
                OutputFile to = OutputFile.open(file, true)) {
            run(session, tokens, 0, slot.group());
            // States are kept at ends of pages, and found again there.
            int page = pageTokens(lease.model());
            session.truncate(Math.max(0, tokens.length - AGAIN) / page * page);
            DataOutputStream out = new DataOutputStream(to.bytes());
            out.writeInt(tokens.length);
            for (int token : tokens) {
                out.writeInt(token);
            }
            session.save(out);
            to.complete();
            return answer(slot, file, begin, "save")
                    .put("n_saved", tokens.length)
                    .put("n_written", Files.size(file));
        } catch (IOException e) {
            throw OutputFile.failed(file, e);
        }
    }

    private ObjectNode restore(Exchange exchange, ServedModel served, Slot slot, Path file)
            throws InterruptedException {
        if (!Files.isRegularFile(file)) {
            throw RequestException.invalid("filename", "There is no file " + file.getFileName() + " of a slot.");
        }
        long begin = System.nanoTime();
        try (ServedModel.Lease lease = served.lease();
                Generations.Turn turn = generations.enter(exchange, served, 0);
                Session session = Generations.whenFree(lease.model()::newSession);
                DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            int count = in.readInt();
            if (count < 1 || count > lease.model().contextLength()) {
                throw wrong(
                        file,
                        "has " + count + " tokens; the context holds "
                                + lease.model().contextLength());
            }
            int[] tokens = new int[count];
            for (int i = 0; i < count; i++) {
                tokens[i] = in.readInt();
            }
            restore(session, in, file);
            int[] computed = session.tokens();
            if (!Arrays.equals(computed, Arrays.copyOf(tokens, computed.length)) || computed.length >= count) {
                throw wrong(file, "has other tokens than its session");
            }
            run(session, tokens, computed.length, slot.group());
            slots.put(slot, tokens);
            return answer(slot, file, begin, "restore").put("n_restored", count).put("n_read", Files.size(file));
        } catch (IOException e) {
            throw wrong(file, "cannot be read: " + e);
        }
    }

    private static void restore(Session session, InputStream in, Path file) throws IOException {
        try {
            session.restore(in);
        } catch (TenonException e) {
            if (e.code().equals(ErrorCode.SAVED_SESSION)) {
                throw wrong(file, "cannot be used: " + e.text());
            }
            throw e;
        }
    }

    /// Runs tokens of which some are computed, unless they are found, and leaves them to the prompts of a group.
    private static void run(Session session, int[] tokens, int from, String group) {
        session.generate(
                GenerationRequest.builder()
                        .prompt(Arrays.copyOfRange(tokens, from, tokens.length))
                        .maxNewTokens(0)
                        .group(group)
                        .build(),
                GenerationListener.ofTokens(token -> {}));
    }

    private static int pageTokens(LoadedModel model) {
        return model instanceof ScheduledModel scheduled
                ? Math.max(1, scheduled.scheduling().pageTokens())
                : 1;
    }

    private static RequestException wrong(Path file, String why) {
        return RequestException.invalid(
                "filename", "The file " + file.getFileName() + " " + why + ". Save the slot again.");
    }

    private static ObjectNode answer(Slot slot, Path file, long begin, String what) {
        ObjectNode answer = Json.object()
                .put(ID, slot.id())
                .put("filename", file.getFileName().toString());
        answer.putObject("timings").put(what + "_ms", (System.nanoTime() - begin) / NANOS_PER_MILLI);
        return answer;
    }
}
