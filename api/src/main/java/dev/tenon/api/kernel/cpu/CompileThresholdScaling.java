package dev.tenon.api.kernel.cpu;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Asks for a method, or all methods of a class, to be compiled after a multiple of the usual
/// number of calls.
///
/// Well below 1 for Vector API kernels, which are slow until C2 has compiled them; above 1 for
/// loops that end before compiled code could pay. The JVM does not read this; options of its
/// command line that are made from it do (`CompileCommand=CompileThresholdScaling`,
/// docs/embedding.md). They name the method, so overloads share them.
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface CompileThresholdScaling {
    /// {@return the factor, above 0}
    double value();
}
