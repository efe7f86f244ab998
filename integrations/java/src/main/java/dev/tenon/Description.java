package dev.tenon;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Tells the model what something is. A method that has it is a tool ([Chat#tools(Object...)]).
///
/// ```java
/// class Clock {
///     @Description("Tells the time in a city.")
///     String time(@Description("such as Paris") String city) { … }
/// }
/// record Person(@Description("the full name") String name, int age) {}
/// ```
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.PARAMETER, ElementType.RECORD_COMPONENT, ElementType.TYPE})
public @interface Description {
    /// {@return what it is}
    String value();

    /// {@return what the model calls a tool or a parameter; the method's or the parameter's own
    ///     name by default. Java keeps names of parameters where it compiles with `-parameters`}
    String name() default "";
}
