package dev.tenon.api.metrics;

import dev.tenon.api.engine.Usage;
import java.time.Duration;

/// A reply that a model generated for a request.
///
/// @param model the name under which the server has the model
/// @param usage tokens, times, and why it ended
/// @param queued how long it waited for its turn
/// @param time from the wish to generate until the end, the wait included
/// @param firstToken from the wish to generate until the first token; zero if none came
public record FinishedGeneration(String model, Usage usage, Duration queued, Duration time, Duration firstToken) {}
