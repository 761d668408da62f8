package io.pendula;

import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** Hands all subjects to the contract, or the single mutant that {@link MutantsTest} asks for. */
final class ContractSubjects implements ArgumentsProvider {
    /** Marks what Pendula alone promises. */
    interface PendulaOnly {}

    /** Marks what has no meaning for one worker alone. */
    interface SeveralWorkers {}

    static final String MUTANT = "pendula.contract.mutant";

    @Override
    public Stream<? extends Arguments> provideArguments(ParameterDeclarations parameters, ExtensionContext context) {
        Class<?> theme = context.getRequiredTestClass();
        return context.getConfigurationParameter(MUTANT)
                .map(name -> Stream.of(Mutant.valueOf(name).subject()))
                .orElseGet(() -> PendulaOnly.class.isAssignableFrom(theme)
                        ? ContractSubject.pendulaAlone().stream() : ContractSubject.all().stream())
                .filter(subject -> subject.workers() > 1 || !SeveralWorkers.class.isAssignableFrom(theme))
                .map(Arguments::of);
    }
}
