class Tenon < Formula
  desc "Runs GGUF language models inside the JVM"
  homepage "${home}"
  url "${portable.url}"
  sha256 "${portable.sha256}"
  license "Apache-2.0"

  depends_on "openjdk"

  def install
    rm "bin/tenon.cmd"
    libexec.install Dir["*"]
    man1.install_symlink libexec/"share/man/man1/tenon.1"
    (bin/"tenon").write_env_script libexec/"bin/tenon", Language::Java.overridable_java_home_env("25")
    generate_completions_from_executable(bin/"tenon", "completion", shells: [:bash, :fish])
  end

  test do
    assert_match "0 failed", shell_output("#{bin}/tenon self-check")
  end
end
