package dev.tenon.platform.server.models;

import java.time.Duration;

/// How models are loaded and kept.
///
/// @param parallel sequences of a model that generate at the same time
/// @param context positions of a sequence; 0 for what the model's request says
/// @param queue requests of a model that may wait
/// @param memoryBytes most bytes that loaded models take, with weights, KV cache and work memory; 0 for no limit
/// @param keepAlive how long a model that is not pinned stays loaded after its last request
/// @param embeddings whether models that generate also embed, which needs named outputs of the backend
public record ModelLimits(
        int parallel, int context, int queue, long memoryBytes, Duration keepAlive, boolean embeddings) {}
