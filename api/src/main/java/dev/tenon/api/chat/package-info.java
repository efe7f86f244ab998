/// Conversations with models: a [ChatRequest] becomes tokens, and what a model generates becomes
/// [ChatEvents]: text, reasoning and calls of tools.
///
/// May change incompatibly until 1.0: import `[0.3,0.4)`.
@Version("0.4.0")
@Export
package dev.tenon.api.chat;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
