package dev.tenon.itest.testkit;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.RunAttention;
import dev.tenon.api.graph.SelectPositions;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.OpCases.Case;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.TestFormats;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/// Ops with a state, attention to runs, and ops on parts of a row: a backend may refuse them.
final class StateOpCases {
    private static final Optional<Weight> NONE = Optional.empty();

    private final List<Case> cases = new ArrayList<>();

    private StateOpCases() {}

    /// {@return all cases}
    static List<Case> all() {
        StateOpCases all = new StateOpCases();
        all.parts();
        all.convolutions();
        all.scans();
        all.deltaRules();
        all.shifts();
        all.replacementRules();
        all.runMeans();
        // heads, positions of a run, window, runs that a token attends to, 0 for all
        for (int[] shape : new int[][] {{1, 1, 1, 0}, {3, 4, 5, 2}, {4, 4, 0, 100}, {2, 7, 3, 0}, {2, 40, 8, 1}}) {
            all.runs(shape[0], shape[1], shape[2], shape[3]);
        }
        return List.copyOf(all.cases);
    }

    private void add(String name, int n, int width, BiFunction<GraphBuilder, Value, Value> ops) {
        cases.add(new Case(name, n, true, false, () -> RandomModels.ops(name, 11, width, TestFormats.F32, ops)));
    }

    private void parts() {
        for (int[] shape : new int[][] {{1, 7, 0, 7}, {1, 65, 3, 31}, {5, 12, 0, 5}, {5, 12, 7, 5}, {3, 2, 1, 1}}) {
            String name = "slice " + shape[3] + " from " + shape[2] + " of " + shape[0] + " groups of " + shape[1];
            add(name, 1, shape[0] * shape[1], (b, x) -> b.slice("s", x, shape[0], shape[2], shape[3]));
        }
        for (int[] shape : new int[][] {{1, 1}, {3, 2}, {31, 1}, {16, 5}, {128, 2}}) {
            add("grouped_rms_norm of " + shape[1] + " groups of " + shape[0], shape[0], shape[0] * shape[1], (b, x) -> {
                Weight weight = new Weight("norm.weight", shape[0], shape[1]);
                return b.groupedRmsNorm("n", x, weight, 1e-6f);
            });
            String layerNorm = "grouped_layer_norm of " + shape[1] + " groups of " + shape[0];
            add(layerNorm, shape[0], shape[0] * shape[1], (b, x) -> {
                Weight weight = new Weight("norm.weight", shape[0], shape[1]);
                return b.groupedLayerNorm("n", x, weight, 1e-5f);
            });
            add("plain_rms_norm of " + shape[1] + " groups of " + shape[0], shape[0], shape[0] * shape[1], (b, x) -> {
                return b.plainRmsNorm("n", x, shape[1], 1e-6f);
            });
        }
        // groups, elements of a group of the first and of the second value
        for (int[] shape : new int[][] {{1, 7, 5}, {4, 1, 3}, {3, 64, 32}}) {
            add("join " + shape[0] + " groups of " + shape[1] + " and " + shape[2], 24, 24, (b, x) -> {
                Value first = OpCases.project(b, x, "a", shape[0] * shape[1]);
                Value second = OpCases.project(b, x, "b", shape[0] * shape[2]);
                return b.join("j", first, second, shape[0]);
            });
        }
        for (int[] shape : new int[][] {{1, 1, 1}, {3, 5, 7}, {4, 64, 33}}) {
            String name = "head_linear of " + shape[0] + " heads, " + shape[1] + " to " + shape[2];
            cases.add(
                    new Case(name, shape[1], true, false, () -> heads(TestFormats.F32, shape[0], shape[1], shape[2])));
        }
    }

    /// A matrix of each head.
    ///
    /// @param format format of the matrices
    /// @param heads heads
    /// @param cols elements of a head, whole blocks
    /// @param rows elements of a head of the result
    /// @return the model; the caller closes it
    static Model heads(QuantFormat format, int heads, int cols, int rows) {
        Weight weight = new Weight("heads.weight", cols, rows, heads);
        return RandomModels.ops(
                "heads", 11, heads * cols, format, (b, x) -> b.headLinear("h", b.scale("s", x, 0.5f), weight));
    }

    private void convolutions() {
        for (int width : new int[] {1, 7, 64, 65, 259}) {
            for (int taps : new int[] {1, 2, 3, 4, 9}) {
                boolean bias = taps % 2 == 0;
                String name = "short_convolution width=" + width + " taps=" + taps + (bias ? " bias" : "");
                Optional<Weight> offsets = bias ? Optional.of(Weight.vector("conv.bias", width)) : NONE;
                add(name, taps, width, (b, x) -> {
                    return b.shortConvolution("c", x, new Weight("conv.weight", taps, width), offsets);
                });
            }
        }
    }

    private void scans() {
        // heads, elements of a head, elements of its state, groups
        for (int[] shape :
                new int[][] {{1, 1, 1, 1}, {2, 7, 5, 1}, {4, 16, 16, 2}, {3, 33, 9, 3}, {8, 64, 128, 2}, {2, 80, 31, 1}
                }) {
            add(
                    "selective_scan " + List.of(shape[0], shape[1], shape[2], shape[3]),
                    16 * shape[2],
                    24,
                    (b, x) -> scan(b, x, shape));
        }
    }

    private void deltaRules() {
        // key heads, value heads, elements of a key, elements of a value
        for (int[] shape : new int[][] {{1, 1, 1, 1}, {1, 3, 5, 7}, {2, 4, 16, 16}, {2, 6, 31, 33}, {2, 4, 128, 128}}) {
            String name = "gated_delta_rule " + List.of(shape[0], shape[1], shape[2], shape[3]) + " ";
            for (StateOp.KeyHeads sharing : StateOp.KeyHeads.values()) {
                add(name + sharing, 16 * shape[2], 24, (b, x) -> delta(b, x, shape, sharing, 1));
            }
            add(
                    name + "with decays of keys",
                    16 * shape[2],
                    24,
                    (b, x) -> delta(b, x, shape, StateOp.KeyHeads.BLOCK, shape[2]));
        }
    }

    private void shifts() {
        for (int[] shape : new int[][] {{1, 1}, {31, 1}, {64, 6}, {65, 3}}) {
            String name = "token_shift width=" + shape[0] + " ways=" + shape[1];
            add(name, 1, shape[0], (b, x) -> {
                Value out = b.value("shifted", shape[0] * shape[1]);
                b.add(new RecurrentOp.TokenShift(x, new Weight("lerp.weight", shape[0], shape[1]), out));
                return out;
            });
        }
    }

    private void replacementRules() {
        // heads, elements of a head
        for (int[] shape : new int[][] {{1, 1}, {3, 5}, {2, 16}, {2, 64}, {1, 65}}) {
            int width = shape[0] * shape[1];
            add("replacement_rule of " + shape[0] + " heads of " + shape[1], 16 * shape[1], 24, (b, x) -> {
                Value rkv = OpCases.project(b, x, "rkv", 3 * width);
                Value decay = b.scale(
                        "decay", b.activate("open", OpCases.project(b, x, "w", width), Activation.SIGMOID), -0.6f);
                Value remove = b.plainRmsNorm("unit", OpCases.project(b, x, "kk", width), shape[0], 1e-6f);
                remove = b.scale("remove", remove, (float) (1 / Math.sqrt(shape[1])));
                Value add = b.multiply(
                        "add", remove, b.activate("rate", OpCases.project(b, x, "a", width), Activation.SIGMOID));
                Value out = b.value("replaced", width);
                b.add(new RecurrentOp.ReplacementRule(rkv, decay, remove, add, shape[0], out));
                return out;
            });
        }
    }

    private void runMeans() {
        // elements of a row, positions of a run, 2 where runs overlap
        for (int[] shape : new int[][] {{1, 1, 1}, {5, 3, 2}, {65, 4, 2}, {64, 4, 1}, {31, 40, 1}}) {
            String name =
                    "run_mean width=" + shape[0] + " of runs of " + shape[1] + (shape[2] > 1 ? ", overlapping" : "");
            int wide = shape[0] * shape[2];
            add(name, 16, 24, (b, x) -> {
                Value scores = b.scale("scores", OpCases.project(b, x, "gate", wide), 5);
                Weight places = new Weight("ape.weight", wide, shape[1]);
                Value out = b.value("means", shape[0]);
                b.add(new RecurrentOp.RunMean(OpCases.project(b, x, "kv", wide), scores, places, out));
                return out;
            });
        }
    }

    /// Attention to positions and to runs, whose keys are values, too.
    private void runs(int heads, int run, int window, int count) {
        String name = "run_attention heads=" + heads + " window=" + window + ", runs of " + run
                + (count == 0 ? "" : ", of which " + count);
        add(name, 64, 24, (b, x) -> {
            Value q = OpCases.project(b, x, "q", heads * 32);
            Value k = OpCases.project(b, x, "k", 32);
            Value rows = OpCases.project(b, x, "rows", 32);
            Value out = b.value("att", heads * 32);
            AttentionParams far =
                    AttentionParams.builder(heads, 1, 0.4f).valuesInKeys(true).build();
            AttentionParams near = far.toBuilder()
                    .slidingWindow(window)
                    .sinks(Optional.of(Weight.vector("attn_sinks.weight", heads)))
                    .build();
            Optional<Value> chosen = Optional.empty();
            if (count > 0) {
                Value positions = b.value("positions", count);
                Value shares = OpCases.project(b, x, "index_weights", 2);
                Value index = OpCases.project(b, x, "index_k", 32);
                b.add(new SelectPositions(OpCases.project(b, x, "index_q", 64), shares, index, 2, run, positions));
                chosen = Optional.of(positions);
            }
            CoreOp.Attention last = new CoreOp.Attention(q, k, k, 0, near, out);
            b.add(new RunAttention(last, new CoreOp.Attention(q, rows, rows, 1, far, out), run, chosen));
            return out;
        });
    }

    private static Value scan(GraphBuilder b, Value x, int[] shape) {
        int heads = shape[0];
        int width = heads * shape[1];
        Value xbc = OpCases.project(b, x, "xbc", width + 2 * shape[3] * shape[2]);
        Value step = OpCases.project(b, x, "step", heads);
        Weight d = new Weight("ssm_d", 1, heads);
        Weight bias = Weight.vector("ssm_dt.bias", heads);
        Value out = b.value("scan", width);
        b.add(new StateOp.SelectiveScan(xbc, step, Weight.vector("ssm_a", heads), d, bias, shape[3], out));
        return out;
    }

    private static Value delta(GraphBuilder b, Value x, int[] shape, StateOp.KeyHeads sharing, int decays) {
        int heads = shape[1];
        int width = heads * shape[3];
        Value qkv = OpCases.project(b, x, "qkv", 2 * shape[0] * shape[2] + width);
        Value decay = OpCases.project(b, x, "alpha", heads * decays);
        Value beta = OpCases.project(b, x, "beta", heads);
        Weight bias = Weight.vector("ssm_dt.bias", heads * decays);
        Value out = b.value("delta", width);
        b.add(new StateOp.GatedDeltaRule(
                qkv, decay, beta, Weight.vector("ssm_a", heads), bias, shape[0], sharing, 1e-6f, out));
        return out;
    }
}
