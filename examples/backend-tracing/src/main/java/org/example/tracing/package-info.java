/// A backend that wraps another one and writes down each step.
package org.example.tracing;
