package io.pendula;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** Hands all subjects to the contract, or the single mutant that {@link MutantsTest} asks for. */
final class ContractSubjects implements ArgumentsProvider {
    /** Marks what Pendula alone promises. */
    @Tag("pendula-only")
    interface PendulaOnly {}

    /** Marks what has no meaning for one worker alone. */
    interface SeveralWorkers {}

    static final String MUTANT = "pendula.contract.mutant";
    /** Whose rows there are: "pendula", or "jdk" for those that test the contract itself; else all. */
    private static final String SUBJECTS = "pendula.contract.subjects";

    @Override
    public Stream<? extends Arguments> provideArguments(ParameterDeclarations parameters, ExtensionContext context) {
        Class<?> theme = context.getRequiredTestClass();
        return context.getConfigurationParameter(MUTANT)
                .map(name -> Stream.of(Mutant.valueOf(name).subject()))
                .orElseGet(() -> subjects(theme, context.getConfigurationParameter(SUBJECTS).orElse("all")).stream())
                .filter(subject -> subject.workers() > 1 || !SeveralWorkers.class.isAssignableFrom(theme))
                .map(Arguments::of);
    }

    private static List<ContractSubject> subjects(Class<?> theme, String whose) {
        boolean pendulaOnly = PendulaOnly.class.isAssignableFrom(theme);
        return switch (whose) {
            case "all" -> pendulaOnly ? ContractSubject.pendulaAlone() : ContractSubject.all();
            case "pendula" -> ContractSubject.pendulaAlone();
            case "jdk" -> pendulaOnly ? List.of() : ContractSubject.jdkAlone();
            default -> throw new IllegalArgumentException(SUBJECTS + " must be pendula or jdk, but is " + whose);
        };
    }
}
