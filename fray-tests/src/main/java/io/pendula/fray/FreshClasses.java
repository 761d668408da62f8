package io.pendula.fray;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Loads the library and the scenarios once more, with the shared scheduler not made yet. */
public final class FreshClasses extends URLClassLoader {
    private static final String OURS = "io.pendula.";
    private static final URL[] FOLDERS = folders();

    private FreshClasses() {
        super(FOLDERS, FreshClasses.class.getClassLoader());
    }

    private static URL[] folders() {
        List<URL> folders = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (Files.isDirectory(Path.of(entry))) {
                try {
                    folders.add(Path.of(entry).toUri().toURL());
                } catch (MalformedURLException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
        return folders.toArray(new URL[0]);
    }

    /** The scenario of that name, in classes of its own: it is loaded, and its statics are set, at each run. */
    static Bed.Scenario inItsOwn(String name) {
        return bed -> {
            FreshClasses loader = new FreshClasses(); // not closed: threads that outlive the body load classes, too
            loader.setDefaultAssertionStatus(true);
            Runnable body = (Runnable) loader.loadClass(Body.class.getName()).getConstructor(String.class)
                    .newInstance(name);
            body.run();
        };
    }

    /** Runs a scenario of the classes that it belongs to. */
    public static final class Body implements Runnable {
        private final String name;

        public Body(String name) {
            this.name = name;
        }

        @Override
        public void run() {
            Fray.runOnce(WakeScenarios.OF_SHARED.get(name));
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> c = findLoadedClass(name);
            return c != null ? c : findClass(name);
        }
    }
}
