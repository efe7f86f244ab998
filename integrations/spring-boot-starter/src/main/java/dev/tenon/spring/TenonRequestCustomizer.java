package dev.tenon.spring;

import dev.tenon.TextRequest;

/// Changes each request that a [TenonChatModel] makes, before it runs: a time limit, adapters,
/// priority, samplers. Beans of this type are called in their order.
///
/// ```java
/// @Bean
/// TenonRequestCustomizer timeLimit() {
///     return request -> request.timeout(Duration.ofMinutes(2));
/// }
/// ```
@FunctionalInterface
public interface TenonRequestCustomizer {
    /// Changes a request.
    ///
    /// @param request has what the prompt's options say
    void customize(TextRequest request);
}
