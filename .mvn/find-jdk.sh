# Sets TENON_JAVA_HOME to a JDK 25 or newer, or prints what to do and returns 1.  Sourced by ./tenon and ./mvnw.
# Looks at TENON_JAVA_HOME, JAVA_HOME, `java` on the PATH, then the usual installation folders.

tenon_jdk_version() { # prints the feature version of the JDK in $1, or nothing
  [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 0
  sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"
}

tenon_find_jdk() {
  tenon_tried=""
  tenon_path_java=$(command -v java 2>/dev/null || true)
  [ -z "$tenon_path_java" ] || tenon_path_java=$(dirname "$(dirname "$(readlink -f "$tenon_path_java" 2>/dev/null || echo "$tenon_path_java")")")
  set +f
  for tenon_home in "${TENON_JAVA_HOME-}" "${JAVA_HOME-}" "$tenon_path_java" \
    /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* /Library/Java/JavaVirtualMachines/*/Contents/Home \
    "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/*; do
    [ -n "$tenon_home" ] && [ -d "$tenon_home" ] || continue
    tenon_version=$(tenon_jdk_version "$tenon_home")
    [ -n "$tenon_version" ] || continue
    if [ "$tenon_version" -ge 25 ]; then
      TENON_JAVA_HOME=$tenon_home
      return 0
    fi
    tenon_tried="$tenon_tried
    $tenon_home (version $tenon_version)"
  done
  {
    echo "tenon: no JDK 25 or newer was found. [ENV-001]"
    [ -z "$tenon_tried" ] || echo "  Found, but too old:$tenon_tried"
    echo "  Install one (any vendor, a JDK and not only a JRE) and either put its bin/java on the PATH,"
    echo "  set JAVA_HOME to it, or unpack it below /usr/lib/jvm."
  } >&2
  return 1
}
