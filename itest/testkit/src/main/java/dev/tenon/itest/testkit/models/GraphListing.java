package dev.tenon.itest.testkit.models;

import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A graph as text that a reader can check against a paper: a line an op, `result = kind inputs, numbers`.
///
/// The ops of a layer are those whose results begin with `blk.N.`; in them this prefix is left out, and `x` is
/// what the op before the layer made. Layers of the same text are listed once. So are numbers that say
/// nothing, such as a window of 0, left out.
///
/// A test compares it with a text block:
///
/// ```
/// assertEquals("""
///         embd = embedding token_embd.weight [32, 67]
///         blk.0, blk.1
///             attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-6
///         ...""", GraphListing.of(graph));
/// ```
public final class GraphListing {
    private static final Pattern LAYER = Pattern.compile("blk\\.([0-9]+)\\.");
    /// Layers with the ops between them: what stands at the head of a part, and its lines.
    private final List<Part> parts = new ArrayList<>();
    private String layer = "";
    /// What the op before the layer made.
    private String before = "";
    private String last = "";

    private record Part(List<String> layers, List<String> lines) {}

    private GraphListing() {}

    /// {@return the text, without a line feed at its end}
    ///
    /// @param graph any graph
    public static String of(Graph graph) {
        GraphListing listing = new GraphListing();
        graph.ops().forEach(listing::add);
        return listing.text(graph);
    }

    private void add(Op op) {
        Matcher matcher = LAYER.matcher(op.outputs().getFirst().name());
        String prefix = matcher.lookingAt() ? matcher.group() : "";
        if (parts.isEmpty() || !prefix.equals(layer)) {
            layer = prefix;
            before = last;
            parts.add(new Part(new ArrayList<>(List.of(prefix)), new ArrayList<>()));
        }
        parts.getLast().lines().add(line(op));
        last = op.outputs().getLast().name();
    }

    private String text(Graph graph) {
        List<Part> merged = new ArrayList<>();
        for (Part part : parts) {
            boolean same = !merged.isEmpty()
                    && !part.layers().getFirst().isEmpty()
                    && merged.getLast().lines().equals(part.lines());
            if (same) {
                merged.getLast().layers().addAll(part.layers());
            } else {
                merged.add(part);
            }
        }
        List<String> lines = new ArrayList<>();
        for (Part part : merged) {
            boolean inLayer = !part.layers().getFirst().isEmpty();
            if (inLayer) {
                List<String> names = part.layers().stream()
                        .map(name -> name.substring(0, name.length() - 1))
                        .toList();
                lines.add(String.join(", ", names));
            }
            part.lines().forEach(line -> lines.add((inLayer ? "    " : "") + line));
        }
        Map<String, String> outputs = new LinkedHashMap<>();
        graph.outputs().forEach((name, value) -> outputs.put(name, value.name()));
        lines.add("output " + graph.output().name() + (outputs.isEmpty() ? "" : ", named " + outputs));
        return String.join("\n", lines);
    }

    private String line(Op op) {
        List<String> parts = new ArrayList<>();
        if (op instanceof Record && Modifier.isPublic(op.getClass().getModifiers())) {
            components(parts, op);
        } else {
            op.inputs().forEach(input -> add(parts, "", input));
            op.weights().forEach(weight -> add(parts, "", weight));
        }
        List<String> results =
                op.outputs().stream().map(value -> local(value.name())).toList();
        return String.join(", ", results) + " = " + op.kind() + " " + String.join(", ", parts);
    }

    private void components(List<String> parts, Op op) {
        for (RecordComponent component : op.getClass().getRecordComponents()) {
            Object value = valueOf(op, component);
            boolean result = value instanceof Value v && op.outputs().contains(v);
            if (!result && !isCacheOfThisLayer(component.getName(), value)) {
                add(parts, component.getName(), value);
            }
        }
    }

    /// The layer of the KV cache is said where it is another one than that of the blocks.
    private boolean isCacheOfThisLayer(String name, Object value) {
        return name.equals("layer") && layer.equals("blk." + value + ".");
    }

    private void add(List<String> parts, String name, Object value) {
        switch (value) {
            case Optional<?> optional -> optional.ifPresent(v -> add(parts, name, v));
            case CoreOp.Attention inner -> components(parts, inner);
            case Value v -> parts.add(v.name().equals(before) && !layer.isEmpty() ? "x" : local(v.name()));
            case Weight w -> parts.add(local(w.toString()));
            case RopeParams p -> rope(parts, p);
            case AttentionParams p -> attention(parts, p);
            case RouterParams p -> router(parts, p);
            case Enum<?> e -> parts.add(e.name());
            default -> parts.add(name + " " + value);
        }
    }

    private void rope(List<String> parts, RopeParams p) {
        parts.add(p.pairing().name());
        parts.add("base " + p.freqBase());
        parts.add(p.ropeDim() == p.headDim() ? "heads of " + p.headDim() : p.ropeDim() + " of heads of " + p.headDim());
        unless(parts, "run", p.run(), 1);
        unless(parts, "scale", p.freqScale(), 1f);
        add(parts, "", p.freqFactors());
        p.yarn().ifPresent(yarn -> parts.add(yarn.toString()));
        unless(parts, "attention factor", p.attentionFactor(), 1f);
    }

    private void attention(List<String> parts, AttentionParams p) {
        parts.add("heads " + p.headCount() + "/" + p.headCountKv());
        parts.add("scale " + p.scale());
        unless(parts, "window", p.slidingWindow(), 0);
        unless(parts, "chunk", p.chunk(), 0);
        unless(parts, "values in keys", p.valuesInKeys(), false);
        unless(parts, "cap", p.softCap(), 0f);
        unless(parts, "causal", p.causal(), true);
        add(parts, "", p.sinks());
        p.scoreBias().ifPresent(bias -> parts.add(bias.toString()));
    }

    private void router(List<String> parts, RouterParams p) {
        parts.add(p.gating().name());
        parts.add("used " + p.used());
        unless(parts, "normalise", p.normalise(), false);
        unless(parts, "scale", p.scale(), 1f);
        unless(parts, "groups", p.groups(), 1);
        unless(parts, "groups used", p.groupsUsed(), p.groups());
        add(parts, "", p.bias());
    }

    private static void unless(List<String> parts, String name, Object value, Object usual) {
        if (!Objects.equals(value, usual)) {
            parts.add(name + " " + value);
        }
    }

    private String local(String name) {
        return !layer.isEmpty() && name.startsWith(layer) ? name.substring(layer.length()) : name;
    }

    private static Object valueOf(Op op, RecordComponent component) {
        try {
            return component.getAccessor().invoke(op);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(
                    "op " + op.kind() + " does not show its component " + component.getName(), e);
        }
    }
}
