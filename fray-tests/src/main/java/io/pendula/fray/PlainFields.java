package io.pendula.fray;

import java.lang.instrument.Instrumentation;
import java.util.List;
import org.pastalab.fray.instrumentation.base.ApplicationCodeTransformer;

/** Takes the place of Fray's agent: threads change at the accesses of plain fields, too, which Fray's own option leaves out. */
public final class PlainFields {
    private PlainFields() {}

    public static void premain(String arguments, Instrumentation instrumentation) {
        instrumentation.addTransformer(new ApplicationCodeTransformer(true, List.of()));
    }
}
