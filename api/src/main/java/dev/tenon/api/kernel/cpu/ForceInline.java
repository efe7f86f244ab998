package dev.tenon.api.kernel.cpu;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Asks for a method, or all methods of a class, to be inlined however often they were called
/// before C2 compiles their callers.
///
/// For the small parts of a Vector API kernel: a part that is not inlined makes objects of its
/// vectors, and the kernel stays several times slower. The JVM does not read this; options of its
/// command line that are made from it do (`CompileCommand=inline`, docs/embedding.md). They name
/// the method, so overloads share them.
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface ForceInline {}
