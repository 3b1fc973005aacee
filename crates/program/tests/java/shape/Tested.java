package shape;

import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.params.ParameterizedTest;

class Tools {
    static Object state = "";

    static boolean onlyForTests(int it) { return state.hashCode() == it; }
}

class ThirdTest extends junit.framework.TestCase {
    public void testByName() { Tools.onlyForTests(3); }
    public void testWith(int it) { System.gc(); }
    void testNotPublic() { System.gc(); }
    public void other() { if (Tools.onlyForTests(4)) System.gc(); }
}

@org.junit.runner.RunWith(String.class)
abstract class FourthBase {
    @org.junit.Test(expected = RuntimeException.class)
    public void inherited() { System.gc(); }
    @org.junit.Test
    public void overridden() { System.gc(); }
}

class FourthTest extends FourthBase {
    @org.junit.Test
    public void own() { System.gc(); }
    @org.junit.Ignore({"a", "b"})
    @org.junit.Test
    public void ignored() { System.gc(); }
    @Override
    public void overridden() { System.gc(); }
    public void plain() { System.gc(); }
}

class FifthTest {
    @org.junit.jupiter.api.Test
    void plain() { System.gc(); }
    @RepeatedTest(3)
    void repeated() { System.gc(); }
    @ParameterizedTest
    void parameters(int it) { System.gc(); }
    @Disabled
    @org.junit.jupiter.api.Test
    void off() { System.gc(); }
    static class Inside { }
}

class NgTest {
    @org.testng.annotations.Test
    public void first() { System.gc(); }
    public void second() { System.gc(); }
}
