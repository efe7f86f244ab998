package dev.tenon.api.device;

import java.util.function.IntUnaryOperator;

/// Pages of their own for the layers of a plan that see a [window][dev.tenon.api.graph.WindowLayers] only: the
/// platform takes back what no later token sees. A sequence's page of such layers that holds position `p` is
/// [StepInput#windowTable] at `p / tokensPerPage`.
///
/// @param pages the pages; as many positions in each as in those of the other layers, and
///     [PlanOptions#windowPages] of them
/// @param firstSeen the first position that a token sees, by its own; never less for a later token. Entries of
///     the table before its page name any page, and are not read
public record WindowPages(KvPages pages, IntUnaryOperator firstSeen) {}
