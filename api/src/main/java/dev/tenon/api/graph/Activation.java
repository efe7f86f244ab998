package dev.tenon.api.graph;

/// Activation functions.
public enum Activation {
    /// `x / (1 + exp(-x))`, also called swish.
    SILU,
    /// `0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`, GELU in its tanh form.
    GELU_TANH,
    /// `max(x, 0)`.
    RELU,
    /// `max(x, 0)^2`.
    RELU_SQUARED,
    /// `1 / (1 + exp(-x))`.
    SIGMOID,
    /// `tanh(x)`.
    TANH,
    /// `0.5 x (1 + erf(x / sqrt(2)))`, GELU as it is defined (Hendrycks and Gimpel 2016).
    GELU_ERF
}
