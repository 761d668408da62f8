package io.pendula.release;

import io.pendula.Timer;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes down what a program can use of the library: one line for each public type and for each of its members. */
final class ApiSignature {
    private static final int MODIFIERS = Modifier.PUBLIC | Modifier.PROTECTED | Modifier.STATIC | Modifier.FINAL
            | Modifier.ABSTRACT;

    private ApiSignature() {}

    static List<String> lines() throws Exception {
        List<String> lines = new ArrayList<>();
        for (Class<?> type : types()) {
            lines.add(describe(type));
            Set<String> members = new TreeSet<>();
            for (Constructor<?> c : type.getDeclaredConstructors()) {
                if (isVisible(c.getModifiers())) {
                    members.add("new " + type.getSimpleName() + parameters(c));
                }
            }
            for (Method m : methods(type)) {
                members.add(modifiers(m.getModifiers(), m.isDefault()) + typeParameters(m)
                        + m.getGenericReturnType().getTypeName() + " " + m.getName() + parameters(m));
            }
            for (Field f : type.getDeclaredFields()) {
                if (isVisible(f.getModifiers()) && !f.isSynthetic()) {
                    members.add(modifiers(f.getModifiers(), false) + f.getGenericType().getTypeName() + " "
                            + f.getName());
                }
            }
            members.forEach(m -> lines.add("    " + m));
        }
        return lines;
    }

    private static List<Class<?>> types() throws Exception {
        Path classes = Path.of(Timer.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<Class<?>> types = new ArrayList<>();
        for (String exported : List.of("io.pendula", "io.pendula.spi")) {
            try (Stream<Path> files = Files.list(classes.resolve(exported.replace('.', '/')))) {
                for (String name : names(files)) {
                    Class<?> type = Class.forName(exported + "." + name, false, Timer.class.getClassLoader());
                    if (isVisible(type)) {
                        types.add(type);
                    }
                }
            }
        }
        return types;
    }

    private static List<String> names(Stream<Path> files) throws IOException {
        return files.map(f -> f.getFileName().toString()).filter(n -> n.endsWith(".class"))
                .map(n -> n.substring(0, n.length() - ".class".length())).filter(n -> !n.equals("package-info"))
                .sorted().toList();
    }

    private static boolean isVisible(Class<?> type) {
        return !type.isSynthetic() && isVisible(type.getModifiers())
                && (type.getDeclaringClass() == null || isVisible(type.getDeclaringClass()));
    }

    private static boolean isVisible(int modifiers) {
        return (modifiers & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0;
    }

    /** Its own methods, and those that it has from a class that a program cannot name. */
    private static List<Method> methods(Class<?> type) {
        List<Method> methods = new ArrayList<>(Arrays.asList(type.getDeclaredMethods()));
        for (Class<?> c = type.getSuperclass(); c != null && !isVisible(c.getModifiers()); c = c.getSuperclass()) {
            methods.addAll(Arrays.asList(c.getDeclaredMethods()));
        }
        methods.removeIf(m -> m.isSynthetic() || !isVisible(m.getModifiers()));
        return methods;
    }

    private static String describe(Class<?> type) {
        List<String> parents = new ArrayList<>();
        if (type.getSuperclass() != null && type.getSuperclass() != Object.class && isVisible(type.getSuperclass())) {
            parents.add(type.getGenericSuperclass().getTypeName());
        }
        Arrays.stream(type.getGenericInterfaces()).map(Type::getTypeName).sorted().forEach(parents::add);
        String kind = type.isEnum() ? "enum " : type.isRecord() ? "record " : type.isInterface() ? "interface " : "class ";
        String sealed = type.isSealed() ? "sealed " : "";
        return modifiers(type.getModifiers() & ~(type.isInterface() ? Modifier.ABSTRACT : 0), false) + sealed + kind
                + type.getName() + (parents.isEmpty() ? "" : " : " + String.join(", ", parents));
    }

    private static String modifiers(int modifiers, boolean isDefault) {
        String text = Modifier.toString(modifiers & MODIFIERS);
        return (text.isEmpty() ? "" : text + " ") + (isDefault ? "default " : "");
    }

    private static String typeParameters(Executable e) {
        return e.getTypeParameters().length == 0 ? "" : Arrays.stream(e.getTypeParameters()).map(Type::getTypeName)
                .collect(Collectors.joining(", ", "<", "> "));
    }

    private static String parameters(Executable e) {
        String thrown = Arrays.stream(e.getGenericExceptionTypes()).map(Type::getTypeName).sorted()
                .collect(Collectors.joining(", "));
        return Arrays.stream(e.getGenericParameterTypes()).map(Type::getTypeName)
                .collect(Collectors.joining(", ", "(", ")")) + (thrown.isEmpty() ? "" : " throws " + thrown);
    }
}
