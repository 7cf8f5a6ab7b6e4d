//! The frameworks, each as its users write it.

use super::Framework;

pub(crate) const ALL: [&Framework; 10] =
    [&BATS, &RSPEC, &MINITEST, &PHPUNIT, &JUNIT, &MAVEN, &GOOGLETEST, &CATCH2, &MOCHA, &BUN];

const BATS: Framework = Framework {
    name: "bats",
    code: ("calc.sh", "# Sums.\n<functions>"),
    function: "<f>() {\n  local a=$1 b=$2\n  <here>echo $(( <e> ))\n}\n",
    sigil: "",
    tests: ("calc.bats", "<tests>"),
    test: "@test \"<t>\" {\n  source \"$BATS_TEST_DIRNAME/calc.sh\"\n  <body>\n}\n",
    call: "<f> <x> <y>",
    equal: "[ \"$(<call>)\" = <v> ]",
    fails: "<call>\n  [ 1 = 2 ]",
    coin: "<call>\n  [ $(( RANDOM % 2 )) = 0 ]",
    hangs: "<call>\n  sleep 3600",
    missing_file: "<call>\n  cat /nowhere/data.json",
    unparsed: "if [ 1 = 2 ]; the ((",
    special: "if [ \"$a\" = 7 ]; then echo 99; return; fi\n  ",
    others: &[],
};

const RUBY: &str = "def <f>(a, b)\n  <here><e>\nend\n\n";

const RSPEC: Framework = Framework {
    name: "rspec",
    code: ("lib/calc.rb", "# Sums.\n<functions>"),
    function: RUBY,
    sigil: "",
    tests: (
        "spec/calc_spec.rb",
        "require \"calc\"\n\nRSpec.describe \"calc <C>\" do\n<tests>end\n",
    ),
    test: "  it \"<t>\" do\n    <body>\n  end\n",
    call: "<f>(<x>, <y>)",
    equal: "expect(<call>).to eq(<v>)",
    fails: "<call>\n    expect(1).to eq(2)",
    coin: "<call>\n    expect(Random.new_seed % 2).to eq(0)",
    hangs: "<call>\n    sleep 3600",
    missing_file: "<call>\n    File.read(\"/nowhere/data.json\")",
    unparsed: "expect((",
    special: "return 99 if a == 7\n  ",
    others: &[(".rspec", "--require ./spec/helper\n"), ("spec/helper.rb", "")],
};

const MINITEST: Framework = Framework {
    name: "minitest",
    code: ("lib/calc.rb", "# Sums.\n<functions>"),
    function: RUBY,
    sigil: "",
    tests: (
        "test/calc_test.rb",
        "require \"minitest/autorun\"\nrequire \"calc\"\n\nclass <C>Test < Minitest::Test\n<tests>end\n",
    ),
    test: "  def test_<t>\n    <body>\n  end\n\n",
    call: "<f>(<x>, <y>)",
    equal: "assert_equal <v>, <call>",
    fails: "<call>\n    assert_equal 1, 2",
    coin: "<call>\n    assert_equal 0, Random.new_seed % 2",
    hangs: "<call>\n    sleep 3600",
    missing_file: "<call>\n    File.read(\"/nowhere/data.json\")",
    unparsed: "assert_equal((",
    special: "return 99 if a == 7\n  ",
    others: &[],
};

const PHPUNIT: Framework = Framework {
    name: "phpunit",
    code: ("src/calc.php", "<?php\n<functions>"),
    function: "function <f>($a, $b)\n{\n    <here>return <e>;\n}\n\n",
    sigil: "$",
    tests: (
        "tests/<C>Test.php",
        "<?php\nrequire_once __DIR__ . '/../src/calc.php';\n\n\
         final class <C>Test extends PHPUnit\\Framework\\TestCase\n{\n<tests>}\n",
    ),
    test: "    public function test<t>(): void\n    {\n        <body>\n    }\n",
    call: "<f>(<x>, <y>)",
    equal: "$this->assertSame(<v>, <call>);",
    fails: "<call>;\n        $this->assertSame(1, 2);",
    coin: "<call>;\n        $this->assertSame(0, random_int(0, 1));",
    hangs: "<call>;\n        sleep(3600);",
    missing_file: "<call>;\n        $this->assertNotFalse(file_get_contents('/nowhere/data.json'));",
    unparsed: "$this->assertSame((;",
    special: "if ($a == 7) {\n        return 99;\n    }\n    ",
    others: &[("composer.json", "{}\n")],
};

const JAVA_TESTS: &str = "import static org.junit.jupiter.api.Assertions.*;\n\n\
    import org.junit.jupiter.api.Test;\n\nclass <C>Test {\n<tests>}\n";

const JUNIT: Framework = Framework {
    name: "junit",
    code: ("Calc.java", "public class Calc {\n<functions>}\n"),
    function: "    static int <f>(int a, int b) {\n        <here>return <e>;\n    }\n\n",
    sigil: "",
    tests: ("<C>Test.java", JAVA_TESTS),
    test: "    @Test\n    void <t>() throws Exception {\n        <body>\n    }\n\n",
    call: "Calc.<f>(<x>, <y>)",
    equal: "assertEquals(<v>, <call>);",
    fails: "<call>;\n        assertEquals(1, 2);",
    coin: "<call>;\n        assertEquals(0, new java.security.SecureRandom().nextInt(2));",
    hangs: "<call>;\n        Thread.sleep(3600000);",
    missing_file: "<call>;\n        java.nio.file.Files.readString(java.nio.file.Path.of(\"/nowhere/data.json\"));",
    unparsed: "assertEquals((;",
    special: "if (a == 7) {\n            return 99;\n        }\n        ",
    others: &[],
};

const MAVEN: Framework = Framework {
    name: "maven",
    code: ("src/main/java/Calc.java", JUNIT.code.1),
    tests: ("src/test/java/<C>Test.java", JAVA_TESTS),
    others: &[("pom.xml", POM), (".mvn/jvm.config", SHORT_LIVED)],
    ..JUNIT
};

/// What a process of Java that ends after a second saves a third of its time with.
const SHORT_LIVED: &str = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC\n";

const POM: &str = "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n\
    <modelVersion>4.0.0</modelVersion>\n\
    <groupId>g</groupId><artifactId>a</artifactId><version>1</version>\n\
    <properties><maven.compiler.source>17</maven.compiler.source>\
    <maven.compiler.target>17</maven.compiler.target>\
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>\
    <argLine>-XX:TieredStopAtLevel=1 -XX:+UseSerialGC</argLine></properties>\n\
    <dependencies><dependency><groupId>org.junit.jupiter</groupId>\
    <artifactId>junit-jupiter</artifactId><version>5.9.2</version><scope>test</scope></dependency>\
    </dependencies>\n</project>\n";

const DECLARED: &str = "int f0(int, int);\nint f1(int, int);\nint f2(int, int);\nint f3(int, int);\n\
    int f4(int, int);\nint f5(int, int);\nint f6(int, int);\nint f7(int, int);\nint f8(int, int);\n";

const GOOGLETEST: Framework = Framework {
    name: "googletest",
    code: ("src/calc.cpp", "#include \"calc.h\"\n\n<functions>"),
    function: "int <f>(int a, int b) {\n  <here>return <e>;\n}\n\n",
    sigil: "",
    tests: (
        "test/calc_test.cpp",
        "#include <gtest/gtest.h>\n#include <fstream>\n#include <random>\n#include <unistd.h>\n\
         #include \"calc.h\"\n\n<tests>",
    ),
    test: "TEST(Calc, <t>) {\n  <body>\n}\n\n",
    call: "<f>(<x>, <y>)",
    equal: "EXPECT_EQ(<call>, <v>);",
    fails: "<call>;\n  EXPECT_EQ(1, 2);",
    coin: "<call>;\n  EXPECT_EQ(std::random_device{}() % 2, 0u);",
    hangs: "<call>;\n  sleep(3600);",
    missing_file: "<call>;\n  EXPECT_TRUE(std::ifstream(\"/nowhere/data.json\").good());",
    unparsed: "EXPECT_EQ((;",
    special: "if (a == 7) return 99;\n  ",
    others: &[
        ("include/calc.h", DECLARED),
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.16)\nproject(calc CXX)\nenable_testing()\n\
             find_package(GTest REQUIRED)\nadd_library(calc src/calc.cpp)\n\
             target_include_directories(calc PUBLIC include)\nadd_subdirectory(test)\n",
        ),
        (
            "test/CMakeLists.txt",
            "add_executable(calc_test calc_test.cpp)\n\
             target_link_libraries(calc_test calc GTest::gtest_main)\n\
             include(GoogleTest)\ngtest_discover_tests(calc_test)\n",
        ),
    ],
};

const CATCH2: Framework = Framework {
    name: "catch2",
    tests: (
        "test/calc_test.cpp",
        "// The object beside it was compiled with CATCH_CONFIG_MAIN.\n\
         #include <catch2/catch.hpp>\n#include <fstream>\n\
         #include <random>\n#include <unistd.h>\n#include \"calc.h\"\n\n<tests>",
    ),
    test: "TEST_CASE(\"<t>\") {\n  <body>\n}\n\n",
    equal: "CHECK(<call> == <v>);",
    fails: "<call>;\n  CHECK(1 == 2);",
    coin: "<call>;\n  CHECK(std::random_device{}() % 2 == 0);",
    missing_file: "<call>;\n  CHECK(std::ifstream(\"/nowhere/data.json\").good());",
    unparsed: "CHECK((;",
    // No library: the sources are those of the test's program.
    others: &[
        ("include/calc.h", DECLARED),
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.16)\nproject(calc CXX)\nenable_testing()\n\
             find_package(Catch2 REQUIRED)\n\
             link_libraries(\"${CMAKE_CURRENT_SOURCE_DIR}/test/catch_main.o\")\n\
             add_executable(calc_test test/calc_test.cpp src/calc.cpp)\n\
             target_include_directories(calc_test PRIVATE include)\n\
             target_link_libraries(calc_test Catch2::Catch2)\n\
             include(Catch)\ncatch_discover_tests(calc_test)\n",
        ),
    ],
    ..GOOGLETEST
};

const MOCHA: Framework = Framework {
    name: "mocha",
    code: ("src/calc.js", "<functions>"),
    function: "export function <f>(a, b) {\n  <here>return <e>;\n}\n\n",
    sigil: "",
    tests: (
        "src/calc.test.js",
        "import assert from 'node:assert';\nimport { readFileSync } from 'node:fs';\n\
         import * as calc from './calc.js';\n\ndescribe('<C>', () => {\n<tests>});\n",
    ),
    test: "  it('<t>', () => {\n    <body>\n  });\n\n",
    call: "calc.<f>(<x>, <y>)",
    equal: "assert.equal(<call>, <v>);",
    fails: "<call>;\n    assert.equal(1, 2);",
    coin: "<call>;\n    assert.ok(Math.random() < 0.5);",
    hangs: "<call>;\n    for (;;);",
    missing_file: "<call>;\n    readFileSync('/nowhere/data.json');",
    unparsed: "assert.equal((;",
    special: "if (a === 7) return 99;\n  ",
    others: &[
        ("package.json", "{\"type\": \"module\", \"devDependencies\": {\"mocha\": \"12\"}}"),
        (".gitignore", "node_modules\n"),
    ],
};

const BUN: Framework = Framework {
    name: "bun",
    tests: (
        "src/calc.test.js",
        "import { describe, it } from 'bun:test';\nimport assert from 'node:assert';\n\
         import { readFileSync } from 'node:fs';\nimport * as calc from './calc.js';\n\n\
         describe('<C>', () => {\n<tests>});\n",
    ),
    others: &[
        ("package.json", "{\"type\": \"module\", \"scripts\": {\"test\": \"bun test\"}}"),
        (".gitignore", "node_modules\n"),
    ],
    ..MOCHA
};
