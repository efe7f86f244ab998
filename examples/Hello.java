//JAVA 25+
//DEPS dev.tenon:tenon:0.1.0
//RUNTIME_OPTIONS --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED

import dev.tenon.Model;
import dev.tenon.Tenon;

void main(String[] args) {
    try (Model model = Tenon.load(args[0])) {
        model.completion("Once upon a time").seed(1).maxNewTokens(50).forEach(IO::print);
    }
}
