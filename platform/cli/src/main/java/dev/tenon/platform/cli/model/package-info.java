/// Commands about a model and its numbers: `inspect`, `show`, `tokenize`, `logits`, `perplexity`,
/// `embed`, `rerank`.
package dev.tenon.platform.cli.model;
