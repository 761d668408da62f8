package io.pendula;

import com.sun.source.tree.BlockTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.lang.model.SourceVersion;
import javax.lang.model.element.Modifier;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * The source of a class as a {@link PlantedFault} sees it: tokens, without comments and spaces, in members that have
 * names. So neither formatting, nor code elsewhere in the class, nor the name of a local variable keeps a fault from
 * being planted.
 */
final class PlantedSource {
    private static final Pattern TOKEN = Pattern.compile("""
            (?s)\\s+|//[^\\n]*|/\\*.*?\\*/|\
            (?<token>\"{3}.*?\"{3}|"(?:\\\\.|[^"\\\\\\n])*"|'(?:\\\\.|[^'\\\\\\n])+'|[\\w$]+|\
            >>>=|<<=|>>=|>>>|\\.\\.\\.|->|::|\\+\\+|--|&&|\\|\\||[=!<>]=|[-+*/&|^%]=|<<|>>|\\S)""");

    private record Token(String text, int from, int to) {
        boolean isName() {
            return SourceVersion.isName(text); // no keyword
        }
    }

    /** A class, method, constructor or field; methods of one name are told apart by what is looked for in them. */
    private record Member(String place, int from, int to, boolean isConstant) {}

    private final String text;
    private final List<Token> tokens;
    private final List<Member> members = new ArrayList<>();

    private PlantedSource(String text) {
        this.text = text;
        this.tokens = tokens(text);
        parse();
    }

    /** The text with the only place changed where a fragment is; {@code $name} in it stands for any name. */
    static String change(String text, PlantedFault.Change c) {
        return new PlantedSource(text).change(c);
    }

    /** Whether the changed member is a constant, whose value other classes may have copied. */
    static boolean isConstant(String text, PlantedFault.Change c) {
        return new PlantedSource(text).members(c).stream().anyMatch(Member::isConstant);
    }

    private String change(PlantedFault.Change c) {
        List<Token> old = tokens(c.old());
        Map<String, String> names = null;
        int from = 0;
        int to = 0;
        for (Member m : members(c)) {
            for (int i = 0; i + old.size() <= tokens.size(); i++) {
                Token first = tokens.get(i);
                Token last = tokens.get(i + old.size() - 1);
                Map<String, String> found = first.from() < m.from() || last.to() > m.to() ? null : match(i, old);
                if (found != null) {
                    if (names != null) {
                        throw new IllegalArgumentException("more than once in " + c.place() + ":\n" + c.old());
                    }
                    names = found;
                    from = first.from();
                    to = last.to();
                }
            }
        }
        if (names == null) {
            throw new IllegalArgumentException("not found in " + c.place() + ":\n" + c.old());
        }
        return text.substring(0, from) + named(c.replacement(), names) + text.substring(to);
    }

    private List<Member> members(PlantedFault.Change c) {
        List<Member> found = members.stream().filter(m -> m.place().equals(c.place())).toList();
        if (found.isEmpty()) {
            throw new IllegalArgumentException("no such class or member: " + c.place());
        }
        return found;
    }

    /** What the names with a '$' stand for, or null if the tokens are others. */
    private Map<String, String> match(int at, List<Token> old) {
        Map<String, String> names = new HashMap<>();
        for (int k = 0; k < old.size(); k++) {
            String wanted = old.get(k).text();
            Token t = tokens.get(at + k);
            boolean fits = wanted.startsWith("$")
                    ? t.isName() && names.computeIfAbsent(wanted, w -> t.text()).equals(t.text())
                    : wanted.equals(t.text());
            if (!fits) {
                return null;
            }
        }
        return names;
    }

    private static String named(String replacement, Map<String, String> names) {
        StringBuilder named = new StringBuilder(replacement);
        List<Token> all = tokens(replacement);
        for (int i = all.size() - 1; i >= 0; i--) {
            Token t = all.get(i);
            if (t.text().startsWith("$")) {
                String name = names.get(t.text());
                if (name == null) {
                    throw new IllegalArgumentException("nothing stands for " + t.text() + " in:\n" + replacement);
                }
                named.replace(t.from(), t.to(), name);
            }
        }
        return named.toString();
    }

    private static List<Token> tokens(String text) {
        List<Token> tokens = new ArrayList<>();
        Matcher m = TOKEN.matcher(text);
        while (m.find()) {
            if (m.group("token") != null) {
                tokens.add(new Token(m.group(), m.start(), m.end()));
            }
        }
        return tokens;
    }

    private void parse() {
        JavaFileObject file = new SimpleJavaFileObject(URI.create("string:///Planted.java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
        JavacTask task = (JavacTask) ToolProvider.getSystemJavaCompiler().getTask(null, null, d -> {}, null, null,
                List.of(file));
        try {
            CompilationUnitTree unit = task.parse().iterator().next();
            new Scanner(unit, Trees.instance(task).getSourcePositions()).scan(unit, null);
        } catch (IOException e) {
            throw new IllegalStateException("a text cannot be read", e);
        }
    }

    /** Notes classes and what they declare; what a body declares belongs to its member. */
    private final class Scanner extends TreeScanner<Void, Void> {
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final Deque<String> path = new ArrayDeque<>();

        Scanner(CompilationUnitTree unit, SourcePositions positions) {
            this.unit = unit;
            this.positions = positions;
        }

        private void note(Tree t, String name, boolean isConstant) {
            path.addLast(name);
            members.add(new Member(String.join(".", path), (int) positions.getStartPosition(unit, t),
                    (int) positions.getEndPosition(unit, t), isConstant));
        }

        @Override
        public Void visitClass(ClassTree c, Void unused) {
            note(c, c.getSimpleName().toString(), false);
            super.visitClass(c, null);
            path.removeLast();
            return null;
        }

        @Override
        public Void visitMethod(MethodTree m, Void unused) {
            note(m, m.getReturnType() == null ? path.getLast() : m.getName().toString(), false);
            path.removeLast();
            return null;
        }

        @Override
        public Void visitVariable(VariableTree v, Void unused) {
            note(v, v.getName().toString(), v.getModifiers().getFlags().contains(Modifier.STATIC)
                    && v.getModifiers().getFlags().contains(Modifier.FINAL));
            path.removeLast();
            return null;
        }

        @Override
        public Void visitBlock(BlockTree b, Void unused) {
            return null;
        }
    }
}
