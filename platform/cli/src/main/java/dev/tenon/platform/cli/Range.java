package dev.tenon.platform.cli;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// The numbers that an option takes, checked before its command begins. Stands on a field or parameter with
/// picocli's `@Option`; NaN is in no range.
@Target({ElementType.FIELD, ElementType.PARAMETER})
@Retention(RetentionPolicy.RUNTIME)
public @interface Range {
    /// Threads that a machine can make use of; far fewer than it can start.
    long MOST_THREADS = 1024;

    /// {@return the smallest allowed number}
    double min() default 0;

    /// {@return the largest allowed number}
    double max() default Float.MAX_VALUE;
}
