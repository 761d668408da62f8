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

    static final String MUTANT = "pendula.contract.mutant";

    @Override
    public Stream<? extends Arguments> provideArguments(ParameterDeclarations parameters, ExtensionContext context) {
        return context.getConfigurationParameter(MUTANT)
                .map(name -> Stream.of(Mutant.valueOf(name).subject()))
                .orElseGet(() -> PendulaOnly.class.isAssignableFrom(context.getRequiredTestClass())
                        ? ContractSubject.pendulaAlone().stream() : ContractSubject.all().stream())
                .map(Arguments::of);
    }
}
