/// Chat templates, rendered as Hugging Face's `transformers` renders them: Jinja2 in its immutable sandbox with
/// `trim_blocks`, `lstrip_blocks` and loop controls.
///
/// `Lexer` cuts a template into tokens, `TemplateParser` and `ExpressionParser` build a tree of `Statement` and
/// `Expression`, and the tree renders itself into a `Frame`. Values and what they can do are in `values`.
package dev.tenon.platform.templates;
