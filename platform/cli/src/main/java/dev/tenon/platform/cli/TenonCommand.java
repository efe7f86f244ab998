package dev.tenon.platform.cli;

import java.util.concurrent.Callable;
import org.osgi.annotation.versioning.ConsumerType;

/// A command of the command line, contributed by any bundle.
///
/// The class carries picocli's `@Command` with name, description and examples, and `@Option`
/// fields. It is registered as an OSGi service of scope prototype with the property [#NAME], so
/// that only the command that was called is made:
///
/// ```java
/// @Command(name = "hello", description = "Says hello.")
/// @Component(
///         service = TenonCommand.class,
///         scope = ServiceScope.PROTOTYPE,
///         property = TenonCommand.NAME + "=hello", configurationPolicy = ConfigurationPolicy.IGNORE)
/// public class HelloCommand implements TenonCommand {
///     @ParentCommand
///     private Console console;
///
///     @Override
///     public Integer call() {
///         console.out().println("hello");
///         return 0;
///     }
/// }
/// ```
///
/// A field of type [Console] with picocli's `@ParentCommand` receives the console. One object
/// serves one invocation, on one thread. The options `-h`, `--help`, `-q`, `--quiet`, `--no-color`
/// and `--debug` are there for every command and cannot be declared again.
///
/// What help says of a command depends on its bundle, on its configuration and on variables of the
/// environment whose names begin with `TENON_`, and on nothing else: the start script's cache keeps
/// it, and shows it without the command until one of them changes.
@ConsumerType
public interface TenonCommand extends Callable<Integer> {
    /// Service property that holds the name of the command, the same as in `@Command(name = ...)`. A
    /// name of two words, such as `doctor nv-tegra`, adds a command below another one, whose object is
    /// then the parent; the [Console] is `spec.root().userObject()`.
    String NAME = "tenon.command";

    /// Runs the command.
    ///
    /// @return exit status: 0 for success
    /// @throws Exception a [dev.tenon.api.error.TenonException] is shown as one line on standard error and
    ///     ends with status 1; picocli's `ParameterException` ends with status 2
    @Override
    Integer call() throws Exception;
}
