package dev.tenon.itest.testkit;

import static dev.tenon.itest.testkit.Closeness.assertClose;
import static dev.tenon.itest.testkit.Closeness.widen;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.ReferenceBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// The part of [BackendContract] that is about what comes with tokens, as with those of a picture: rows of their own,
/// places along axes, and neighbours that they see. A backend may refuse the ops that read it.
public abstract class BackendGivenContract extends BackendReplayContract {
    private static final int WIDTH = 24;
    private static final int SEQUENCES = 2;
    private static final int POSITIONS = 160;
    private static final int BATCH = 128;

    /// For subclasses.
    protected BackendGivenContract() {}

    /// Tokens of a sequence in a step: those of a text, of a picture, and of a text again.
    private record Piece(int sequence, int before, int picture, int after) {}

    /// Steps in which pictures are large and small, alone and beside texts, and steps that have none.
    private static final List<List<Piece>> STEPS = List.of(
            List.of(new Piece(0, 9, 0, 0), new Piece(1, 1, 0, 0)),
            List.of(new Piece(1, 0, 3, 0)),
            List.of(new Piece(0, 2, 71, 3), new Piece(1, 2, 5, 1)),
            List.of(new Piece(0, 0, 0, 1), new Piece(1, 0, 0, 1)),
            List.of(new Piece(1, 1, 2, 1)),
            List.of(new Piece(0, 0, 0, 17)));

    /// Where every sequence has to be in one step.
    private static final List<List<Piece>> WHOLE = List.of(
            List.of(new Piece(0, 2, 71, 3), new Piece(1, 1, 4, 1)),
            List.of(new Piece(1, 0, 3, 0)),
            List.of(new Piece(0, 9, 0, 0)));

    /// Adds the steps to an input, for a plan: both plans get the same tokens on pages of their own.
    private static final class Steps {
        private final Random random = new Random(5);
        private final int[] lengths = new int[SEQUENCES];
        private final int[] moved = new int[SEQUENCES];
        private final boolean whole;
        private final Model model;
        private final int[][] tables = new int[SEQUENCES][];

        Steps(Plan plan, Model model, boolean whole) {
            this.model = model;
            this.whole = whole;
            int pages = Math.ceilDiv(POSITIONS, plan.kvPages().tokensPerPage());
            for (int s = 0; s < SEQUENCES; s++) {
                int first = s;
                tables[s] = IntStream.range(0, pages)
                        .map(i -> i * SEQUENCES + first)
                        .toArray();
            }
        }

        StepInput input(List<Piece> pieces) {
            StepInput input = new StepInput();
            for (Piece piece : pieces) {
                int s = piece.sequence;
                input.addSequence(tables[s]);
                if (whole) {
                    lengths[s] = 0;
                    moved[s] = 0;
                }
                text(input, s, piece.before);
                picture(input, s, piece.picture);
                text(input, s, piece.after);
            }
            return input;
        }

        /// A text after pictures stands nearer along the axes than its positions are.
        private void text(StepInput input, int s, int count) {
            for (int i = 0; i < count; i++) {
                int position = lengths[s]++;
                input.addToken(random.nextInt(model.vocabularySize()), position, true);
                if (moved[s] > 0) {
                    int place = position - moved[s];
                    input.place(new int[] {place, place, place});
                }
            }
        }

        private void picture(StepInput input, int s, int count) {
            int first = lengths[s];
            int place = first - moved[s];
            for (int i = 0; i < count; i++) {
                float[] row = new float[3 * WIDTH];
                for (int j = 0; j < row.length; j++) {
                    row[j] = (float) random.nextGaussian();
                }
                input.addToken(0, first + i, true, row);
                input.place(new int[] {place, place + i / 4, place + i % 4, i});
                input.span(first, first + count - 1);
            }
            lengths[s] += count;
            moved[s] += count - count / 4;
        }
    }

    @TestFactory
    Stream<DynamicTest> whatComesWithTokensMatchesTheReference() {
        List<DynamicTest> tests = new ArrayList<>();
        tests.add(test("replace_rows", 1, false, (b, x) -> b.replaceRows("inputs", b.scale("half", x, 0.5f))));
        tests.add(test(
                "replace_rows of what others read", 1, false, (b, x) -> b.add("sum", x, b.replaceRows("inputs", x))));
        tests.add(test("given_rows", 1, false, (b, x) -> {
            Value rows = b.givenRows("rows", 3 * WIDTH);
            Value part = b.slice("part", rows, 1, WIDTH, WIDTH);
            return b.add("sum", b.replaceRows("inputs", x), part);
        }));
        for (RopeParams.Pairing pairing : RopeParams.Pairing.values()) {
            for (int span : new int[] {8, 4}) {
                tests.add(test(
                        "rope " + pairing + " along axes, pairs within " + span,
                        16,
                        false,
                        (b, x) -> b.rope("r", x, rope(12, 8, pairing, span))));
            }
        }
        for (int size : new int[] {16, 33, 64, 128, 330}) {
            for (int window : new int[] {0, 5, 70}) {
                AttentionParams params = AttentionParams.builder(4, 2, 0.3f)
                        .spans(true)
                        .slidingWindow(window)
                        .build();
                tests.add(test(
                        "attention of " + size + " within spans, window=" + window,
                        Math.max(size, POSITIONS),
                        false,
                        (b, x) -> attention(b, x, size, params, Optional.empty())));
            }
            AttentionParams encoder = AttentionParams.builder(4, 2, 0.3f)
                    .spans(true)
                    .causal(false)
                    .build();
            tests.add(test(
                    "attention of " + size + " within spans, encoder",
                    Math.max(size, POSITIONS),
                    true,
                    (b, x) -> attention(b, x, size, encoder, Optional.empty())));
        }
        AttentionParams params =
                AttentionParams.builder(4, 2, 0.12f).spans(true).build();
        for (int span : new int[] {64, 32}) {
            tests.add(test("rows, axes and spans, pairs within " + span, 4 * POSITIONS, false, (b, x) -> {
                Value rows = b.replaceRows("inputs", x);
                RopeParams rope = rope(64, 64, RopeParams.Pairing.HALF_SPLIT, span);
                Value normed = b.rmsNorm("norm", rows, Weight.vector("norm.weight", WIDTH), 1e-6f);
                Value attended = attention(b, normed, 64, params, Optional.of(rope));
                return b.add("sum", rows, OpCases.project(b, attended, "o", WIDTH));
            }));
        }
        return tests.stream();
    }

    private static RopeParams rope(int length, int turned, RopeParams.Pairing pairing, int span) {
        return RopeParams.builder(length, pairing, 500)
                .ropeDim(turned)
                .turns(IntStream.range(0, turned / 2)
                        .mapToObj(i -> new RopeParams.Turn(i % 4, turned / 2 - 1 - i))
                        .toList())
                .span(span)
                .build();
    }

    private static Value attention(
            GraphBuilder b, Value x, int size, AttentionParams params, Optional<RopeParams> rope) {
        Value q = OpCases.project(b, x, "q", params.headCount() * size);
        Value k = OpCases.project(b, x, "k", params.headCountKv() * size);
        Value v = OpCases.project(b, x, "v", params.headCountKv() * size);
        Value turnedQ = rope.map(r -> b.rope("q_rope", q, r)).orElse(q);
        Value turnedK = rope.map(r -> b.rope("k_rope", k, r)).orElse(k);
        return b.attention("att", turnedQ, turnedK, v, 0, params);
    }

    private DynamicTest test(String name, int n, boolean whole, BiFunction<GraphBuilder, Value, Value> ops) {
        return dynamicTest(name, () -> {
            try (Model model = RandomModels.ops(name, 11, WIDTH, TestFormats.F32, ops)) {
                assumeSupported(model);
                try (Device reference = new ReferenceBackend()
                                .open(DeviceOptions.builder().build());
                        Plan expected = plan(reference, model);
                        Plan plan = plan(device(), model)) {
                    Steps truth = new Steps(expected, model, whole);
                    Steps steps = new Steps(plan, model, whole);
                    for (List<Piece> pieces : whole ? WHOLE : STEPS) {
                        float[][] rows = rows(expected, truth.input(pieces), model);
                        float[][] got = rows(plan, steps.input(pieces), model);
                        assertClose(name + " " + pieces, widen(rows), got, tolerance(kind(model), n));
                    }
                }
            }
        });
    }

    private Plan plan(Device device, Model model) {
        return device.compiler()
                .compile(settings(BATCH, SEQUENCES, POSITIONS).request(model, SEQUENCES * 2 * POSITIONS));
    }

    private static float[][] rows(Plan plan, StepInput input, Model model) {
        StepResult result = plan.run(input);
        float[][] rows = new float[result.rows()][model.graph().output().width()];
        for (int r = 0; r < rows.length; r++) {
            result.logits(r, rows[r]);
        }
        return rows;
    }
}
