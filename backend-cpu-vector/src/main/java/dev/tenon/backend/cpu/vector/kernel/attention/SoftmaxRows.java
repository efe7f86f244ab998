package dev.tenon.backend.cpu.vector.kernel.attention;

/// Scores of query rows and the state of their softmax; made once for a thread.
///
/// @param scores `[rows, TILE]` and [AttentionMath#SPARE] more: scores, which become weights in place
/// @param max running maxima
/// @param sum running sums of weights
/// @param keep what the sums so far are multiplied with
/// @param acc `[rows, stride]`, weighted values so far
public record SoftmaxRows(float[] scores, float[] max, float[] sum, float[] keep, float[] acc) {}
