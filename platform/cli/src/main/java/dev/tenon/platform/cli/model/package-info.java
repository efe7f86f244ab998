/// Commands about a model and its numbers: `inspect`, `tokenize`, `logits`, `perplexity`.
package dev.tenon.platform.cli.model;
