/// JSON Schema: which JSON texts satisfy a schema, as expressions of bytes.
package dev.tenon.platform.grammar.schema;
