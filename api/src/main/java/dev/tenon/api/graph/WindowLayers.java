package dev.tenon.api.graph;

import java.util.ArrayList;
import java.util.List;

/// The layers of a KV cache of which no token sees more than the last positions: those all of whose attention is
/// causal and has a [window][AttentionParams#slidingWindow] or [chunks][AttentionParams#chunk]. What lies before is
/// never read again.
///
/// @param layers the attention op that appends to each of them, in the order of the layers; unmodifiable
/// @param views how they attend, each way once; unmodifiable
public record WindowLayers(List<CoreOp.Attention> layers, List<AttentionParams> views) {
    /// Takes copies.
    public WindowLayers {
        layers = List.copyOf(layers);
        views = List.copyOf(views);
    }

    /// {@return those of a graph}
    ///
    /// @param graph a graph whose custom ops with attention are expanded
    public static WindowLayers of(Graph graph) {
        List<CoreOp.Attention> layers = new ArrayList<>();
        List<AttentionParams> views = new ArrayList<>();
        for (CoreOp.Attention layer : graph.cacheLayers()) {
            List<AttentionParams> all = graph.attentionLayers().stream()
                    .filter(op -> op.layer() == layer.layer())
                    .map(CoreOp.Attention::params)
                    .toList();
            // Layers that other ops alone read have none.
            if (!all.isEmpty() && all.stream().allMatch(WindowLayers::bounded)) {
                layers.add(layer);
                views.addAll(all);
            }
        }
        return new WindowLayers(layers, views.stream().distinct().toList());
    }

    private static boolean bounded(AttentionParams params) {
        return params.causal() && (params.slidingWindow() > 0 || params.chunk() > 0);
    }

    /// {@return whether a layer is one of them}
    ///
    /// @param layer its number
    public boolean has(int layer) {
        return layers.stream().anyMatch(op -> op.layer() == layer);
    }

    /// {@return the first position that a token sees in any of the layers; the token's own without layers}
    ///
    /// @param position the token's
    public int firstSeen(int position) {
        int first = position;
        for (AttentionParams view : views) {
            first = Math.min(first, view.firstSeen(position));
        }
        return first;
    }

    /// {@return the most positions that a token sees in any of the layers, its own included; 0 without layers}
    public int span() {
        int span = 0;
        for (AttentionParams view : views) {
            int window = view.slidingWindow() > 0 ? view.slidingWindow() : view.chunk();
            span = Math.max(span, view.chunk() > 0 ? Math.min(window, view.chunk()) : window);
        }
        return span;
    }
}
