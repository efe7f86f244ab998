/// Commands about a model and its numbers: `inspect`, `show`, `tokenize`, `logits`, `perplexity`,
/// `encode`, `embed`, `rerank`.
package dev.tenon.platform.cli.model;
