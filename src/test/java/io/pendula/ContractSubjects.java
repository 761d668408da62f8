package io.pendula;

import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** Hands all subjects to the contract. */
final class ContractSubjects implements ArgumentsProvider {
    /** Marks what Pendula alone promises. */
    interface PendulaOnly {}

    @Override
    public Stream<? extends Arguments> provideArguments(ParameterDeclarations parameters, ExtensionContext context) {
        return (PendulaOnly.class.isAssignableFrom(context.getRequiredTestClass()) ? ContractSubject.pendulaAlone()
                : ContractSubject.all()).stream()
                .map(Arguments::of);
    }
}
