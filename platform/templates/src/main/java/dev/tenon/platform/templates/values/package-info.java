/// Python's values as a template sees them: operators, text, JSON, filters, tests, methods and functions.
///
/// A value is a `String`, `Boolean`, `Long`, `Double`, `Values.NONE`, `Undefined`, `List` (of which
/// `Tuple` is one), `Map`, `Callable` or `TemplateObject`. Nothing else ever gets in, so no
/// template reaches a Java class. Values are never changed after they were made, except the
/// attributes of a `Namespace`.
package dev.tenon.platform.templates.values;
