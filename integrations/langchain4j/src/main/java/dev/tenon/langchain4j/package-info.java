/// Models that run in this JVM as LangChain4j's models.
///
/// ```java
/// try (Model model = Tenon.load("Qwen/Qwen3-0.6B-GGUF:Q8_0")) {
///     ChatModel chat = TenonChatModel.builder().model(model).build();
///     System.out.println(chat.chat("Why is the sky blue?"));
/// }
/// ```
///
/// Each class takes a [dev.tenon.Model], which its caller closes, and is safe for any thread, as that is.
@Version("0.1.0")
@Export
@NullMarked
package dev.tenon.langchain4j;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
