package dev.tenon.api.graph;

/// How [CoreOp.Pool] makes one row of the rows of a sequence; named as `pooling_type` of GGUF.
public enum Pooling {
    /// The mean of all rows.
    MEAN,
    /// The first row, that of the token `[CLS]`.
    CLS
}
