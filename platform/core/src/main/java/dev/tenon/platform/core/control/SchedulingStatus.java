package dev.tenon.platform.core.control;

/// How the sequences of a model share its memory. Counts begin again when the model is placed again.
///
/// @param running sequences with a call that have pages
/// @param waiting sequences with a call that have none yet, or none any more
/// @param pages pages of the KV cache; 0 while the model has no placement
/// @param pageTokens tokens that a page holds; 0 while the model has no placement
/// @param freePages pages that no sequence uses, kept ones included
/// @param keptPages pages that no sequence uses and that hold tokens which may come again
/// @param windowPages pages of layers with a window; 0 where they have none of their own
/// @param freeWindowPages those that no sequence uses
/// @param reusedTokens tokens that did not run because another sequence had computed them
/// @param preemptions how often pages were taken from a call, whose tokens then ran again
public record SchedulingStatus(
        int running,
        int waiting,
        int pages,
        int pageTokens,
        int freePages,
        int keptPages,
        int windowPages,
        int freeWindowPages,
        long reusedTokens,
        long preemptions) {}
