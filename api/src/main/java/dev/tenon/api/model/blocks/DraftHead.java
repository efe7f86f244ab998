package dev.tenon.api.model.blocks;

import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.Optional;

/// The head for further tokens of most models that have one: a block as the decoder's, between a matrix
/// that joins token and hidden state and the usual norm and logits. Its tensors are those of the first
/// block after the decoder's, with `nextn.` in their names where a decoder has none like them.
public final class DraftHead {
    private DraftHead() {}

    /// Adds the block of a head.
    @FunctionalInterface
    public interface Block {
        /// {@return the residual stream after it, `[T, E]`}
        ///
        /// @param layer which block of the file it is; its KV cache layer is 0
        /// @param x the residual stream before it, `[T, E]`
        Value of(int layer, Value x);
    }

    /// {@return the whole graph, as [dev.tenon.api.model.ModelArchitecture#head] has it; empty for a file
    ///     without draft blocks}
    ///
    /// @param d blocks, whose graph is empty
    /// @param block adds the block
    public static Optional<Graph> of(DecoderBlocks d, Block block) {
        if (DecoderBlocks.drafts(d.source()) == 0) {
            return Optional.empty();
        }
        GraphBuilder g = d.graph();
        int layer = d.config().blockCount();
        int width = d.config().embeddingLength();
        String head = "blk." + layer + ".nextn.";
        Value token = g.embedding("embd", own(d, head + "embed_tokens.weight").orElse(d.embeddingTable()));
        Value both = g.join(
                head + "joined",
                d.rmsNorm(head + "enorm", token),
                d.rmsNorm(head + "hnorm", g.givenRows("state", width)),
                1); //                                                                                [T, 2 E]
        Value x = block.of(layer, d.linear(head + "eh_proj", both, width)); //                        [T, E]
        String norm = d.has(head + "shared_head_norm.weight") ? head + "shared_head_norm" : "output_norm";
        Value hidden = d.norm(norm, g.selectRows("selected", x)); //                                  [L, E]
        g.output(Graph.HIDDEN, hidden);
        return Optional.of(g.build(own(d, head + "shared_head_head.weight")
                .map(matrix -> g.linear("logits", hidden, matrix, Optional.empty()))
                .orElseGet(() -> d.logits(hidden)))); //                                              [L, nVocab]
    }

    /// A table of tokens that the head has beside the decoder's.
    private static Optional<Weight> own(DecoderBlocks d, String tensor) {
        return d.has(tensor)
                ? Optional.of(new Weight(
                        tensor, d.config().embeddingLength(), d.config().vocabularySize()))
                : Optional.empty();
    }
}
