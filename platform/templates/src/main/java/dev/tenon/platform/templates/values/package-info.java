/// Python's values as a template sees them: operators, text, JSON, filters, tests, methods and functions.
///
/// A value is a `Text`, `Boolean`, `Long`, `Double`, `Values.NONE`, `Undefined`, `List` (of which `Tuple` and `Range`
/// are kinds), `Map`, `View`, `Generator`, `Callable` or `Namespace`. Nothing else ever gets in, so no template reaches
/// a Java class. Values are never changed after they were made, except the
/// attributes of a `Namespace`, and what a `Generator` has left.
package dev.tenon.platform.templates.values;
