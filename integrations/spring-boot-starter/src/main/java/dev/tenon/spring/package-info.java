/// Models that run in the JVM as beans of Spring Boot: `tenon.model` in the configuration loads a
/// [dev.tenon.Model]; with Spring AI on the class path it is a
/// [org.springframework.ai.chat.model.ChatModel] and an
/// [org.springframework.ai.embedding.EmbeddingModel], too, with Actuator a health contributor, and
/// with Micrometer a source of meters.
@NullMarked
package dev.tenon.spring;

import org.jspecify.annotations.NullMarked;
