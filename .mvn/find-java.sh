# tenon_find_java WHAT: sets TENON_JAVA_HOME to a Java 25 or newer, or says in one line what to do and returns 1. WHAT is
# "jdk" for ./tenon and ./mvnw, which build, and "runtime" for bin/tenon, to which a JRE or an image of jlink with
# tenon_modules will do. Looks at TENON_JAVA_HOME, JAVA_HOME, `java` on the PATH, then the usual installation folders.
# bin/tenon comes here at each start, so nothing here starts a process but one readlink, and that only for the PATH.

# What our jars require; java.logging is for JCuda, an extra.
tenon_modules="java.logging java.management java.net.http java.xml jdk.incubator.vector jdk.management"

tenon_will_do() { # tenon_will_do HOME: if it is a Java that will not do, says in tenon_tried why
  [ -x "$1/bin/java" ] && [ -r "$1/release" ] || return 1
  tenon_version= tenon_has=
  while IFS='="' read -r tenon_key tenon_none tenon_value tenon_rest; do
    case "$tenon_key" in
    JAVA_VERSION) tenon_version=${tenon_value%%[!0-9]*} ;;
    MODULES) tenon_has=" $tenon_value " && break ;;
    esac
  done <"$1/release"
  tenon_why=
  if [ "${tenon_version:-0}" -lt 25 ]; then
    tenon_why=" Java ${tenon_version:-of an unknown version}"
  elif [ "$tenon_what" = jdk ]; then
    [ -x "$1/bin/javac" ] || tenon_why=" no compiler, so not a JDK"
  elif [ -n "$tenon_has" ]; then
    for tenon_module in $tenon_modules; do
      case "$tenon_has" in *" $tenon_module "*) ;; *) tenon_why="$tenon_why $tenon_module" ;; esac
    done
    tenon_why=${tenon_why:+ without the modules$tenon_why}
  fi
  [ -n "$tenon_why" ] || return 0
  tenon_tried="$tenon_tried${tenon_tried:+, }$1 (${tenon_why# })"
  return 1
}

tenon_on_path() { # sets tenon_home to the home of the first `java` on the PATH
  tenon_home= tenon_ifs=$IFS
  IFS=:
  for tenon_folder in $PATH; do
    [ -x "$tenon_folder/java" ] || continue
    tenon_home=$(readlink -f "$tenon_folder/java")
    tenon_home=${tenon_home%/bin/java}
    break
  done
  IFS=$tenon_ifs
}

tenon_find_java() {
  tenon_what=$1 tenon_tried=
  set +f
  for tenon_home in "${TENON_JAVA_HOME-}" "${JAVA_HOME-}" PATH \
    /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* /Library/Java/JavaVirtualMachines/*/Contents/Home \
    "${HOME-}"/.sdkman/candidates/java/* "${HOME-}"/.jdks/*; do
    [ "$tenon_home" != PATH ] || tenon_on_path
    tenon_will_do "$tenon_home" || continue
    TENON_JAVA_HOME=$tenon_home
    return 0
  done
  [ "$1" = runtime ] && tenon_what=Java || tenon_what='a JDK'
  echo "tenon: no Java that will do was found${tenon_tried:+, only $tenon_tried}. Install $tenon_what 25 or newer of any vendor" \
    "and set JAVA_HOME to it. [ENV-001]" >&2
  return 1
}
