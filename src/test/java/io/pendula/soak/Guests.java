package io.pendula.soak;

import io.pendula.SchedulerExecutor;
import io.pendula.TimerHandle;
import io.pendula.TimerExecutors;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Schedulers, pools and loops that come and go. Each is closed amid its timers, and its accounts are settled. */
final class Guests {
    private static final int TIMERS = 1_000;
    /** So many are armed just before the end. */
    private static final int LATE_TIMERS = 50;
    private static final long LONGEST_NANOS = 40_000_000;
    private static final long STAY_NANOS = 20_000_000;
    private static final int IDLER_TIMERS = 8;
    private static final long IDLE_NANOS = 3_000_000;
    private static final int TRIES = 1_000;

    private final TimerScheduler house;
    private final Ledger ledger;
    private final SplittableRandom random;
    private long disturbancesBefore;

    Guests(TimerScheduler house, Ledger ledger, long seed) {
        this.house = house;
        this.ledger = ledger;
        this.random = new SplittableRandom(seed);
    }

    /** One that comes, and goes. */
    void one() throws InterruptedException {
        disturbancesBefore = ledger.disturbances.get();
        switch (random.nextInt(4)) {
            case 0 -> scheduler();
            case 1 -> pool();
            case 2 -> idler();
            default -> loop();
        }
        ledger.guests.incrementAndGet();
    }

    private void scheduler() {
        TimerScheduler s = untilThereIsMemory(() -> TimerScheduler.builder().name("guest").workers(1 + random.nextInt(3))
                .listener(ledger).build());
        Account.Arming how = (nanos, callback) -> s.after(nanos, TimeUnit.NANOSECONDS, callback);
        List<Account> accounts = armed(TIMERS, how);
        LockSupport.parkNanos(STAY_NANOS);
        accounts.addAll(armed(LATE_TIMERS, how)); // most are in the inbox when it closes
        List<TimerHandle> unfired = untilThereIsMemory(s::shutdownNow);
        untilThereIsMemory(() -> {
            s.close();
            return s;
        });
        settle("a scheduler", accounts, unfired);
        long counted = s.stats().fired() + s.stats().stopped() + s.stats().unfired();
        if (s.stats().pending() != 0 || counted != accounts.stream().mapToInt(Account::armed).sum()) {
            ledger.complain("a scheduler's own figures do not add up: " + s.stats());
        }
        check(s);
    }

    /** Has one timer at a time, and sleeps in between: a lost wake-up is not made good by other timers. */
    private void idler() {
        TimerScheduler s = untilThereIsMemory(() -> TimerScheduler.builder().name("idler").workers(1 + random.nextInt(2))
                .listener(ledger).build());
        Account a = untilThereIsMemory(() -> new Account(ledger));
        for (int i = 0; i < IDLER_TIMERS; i++) {
            LockSupport.parkNanos(random.nextLong(IDLE_NANOS));
            if (a.timer == null) {
                a.arm((nanos, callback) -> s.after(nanos, TimeUnit.NANOSECONDS, callback), random.nextLong(IDLE_NANOS));
            } else {
                a.reset(random.nextLong(IDLE_NANOS));
            }
            long end = System.nanoTime() + Ledger.LOST_NANOS;
            while (a.open() != 0 && System.nanoTime() - end < 0) {
                LockSupport.parkNanos(100_000);
            }
        }
        check(s);
        untilThereIsMemory(() -> {
            s.close();
            return s;
        });
        settle("an idle scheduler", List.of(a), List.of());
    }

    private boolean isUndisturbed() {
        return disturbancesBefore % 2 == 0 && ledger.disturbances.get() == disturbancesBefore;
    }

    private void check(TimerScheduler s) {
        if (s.stats().overdueWakes() != 0 && isUndisturbed()) {
            ledger.complain("a wake-up was lost: " + s.stats());
        }
    }

    private void loop() throws InterruptedException {
        Thread t = new Thread(() -> {
            Thread me = Thread.currentThread();
            TimerLoop loop = untilThereIsMemory(() -> house.attach(() -> LockSupport.unpark(me)));
            Account.Arming how = (nanos, callback) -> loop.after(nanos, TimeUnit.NANOSECONDS, callback);
            List<Account> accounts = armed(TIMERS, how);
            for (long end = System.nanoTime() + STAY_NANOS; System.nanoTime() - end < 0; ) {
                LockSupport.parkNanos(Math.min(loop.nanosUntilNext(), STAY_NANOS));
                loop.runDue();
            }
            accounts.addAll(armed(LATE_TIMERS, how));
            settle("a loop", accounts, untilThereIsMemory(loop::detach));
        }, "guest");
        t.setUncaughtExceptionHandler(ledger);
        t.start();
        t.join();
    }

    private List<Account> armed(int timers, Account.Arming how) {
        List<Account> accounts = untilThereIsMemory(() -> new ArrayList<>(TIMERS + LATE_TIMERS));
        for (int i = 0; i < timers; i++) {
            Account a = untilThereIsMemory(() -> new Account(ledger));
            if (a.arm(how, random.nextLong(LONGEST_NANOS))) {
                accounts.add(a);
                if (i % 3 == 0) {
                    a.stop();
                }
            }
        }
        return accounts;
    }

    /** No callback runs any more. */
    private void settle(String whose, List<Account> accounts, List<TimerHandle> unfired) {
        Set<TimerHandle> left = untilThereIsMemory(() -> {
            Set<TimerHandle> set = Collections.newSetFromMap(new IdentityHashMap<>());
            set.addAll(unfired);
            return set;
        });
        for (Account a : accounts) {
            if (a.open() != (left.contains(a.timer) ? 1 : 0)) {
                ledger.complain(whose + " has closed, and the account of a timer is " + a.open()
                        + (left.contains(a.timer) ? ", which was given back" : ""));
            }
        }
    }

    private void pool() throws InterruptedException {
        SchedulerExecutor pool = untilThereIsMemory(() -> TimerExecutors.builder().threads(1 + random.nextInt(3)).build());
        AtomicInteger ran = new AtomicInteger();
        List<Future<?>> submitted = untilThereIsMemory(() -> new ArrayList<>(TIMERS));
        for (int i = 0; i < TIMERS; i++) {
            try {
                Future<?> f = pool.schedule(ran::incrementAndGet, random.nextLong(LONGEST_NANOS), TimeUnit.NANOSECONDS);
                submitted.add(f);
                if (i % 3 == 0) {
                    f.cancel(false);
                }
            } catch (OutOfMemoryError | RejectedExecutionException e) {
                ledger.refusals.incrementAndGet();
            }
        }
        LockSupport.parkNanos(STAY_NANOS);
        List<Runnable> returned = untilThereIsMemory(pool::shutdownNow);
        if (!pool.awaitTermination(Ledger.LOST_NANOS + ledger.heldUpNanos.get(), TimeUnit.NANOSECONDS)) {
            ledger.complain("a pool does not end: " + pool.stats());
            return;
        }
        int cancelled = 0; // by this thread, or by a worker between two calls of shutdownNow()
        for (Future<?> f : submitted) {
            cancelled += f.isCancelled() ? 1 : 0;
        }
        if (ran.get() + cancelled + returned.size() != submitted.size()) {
            ledger.complain("of " + submitted.size() + " tasks of a pool " + ran + " ran, " + cancelled
                    + " were cancelled and " + returned.size() + " returned");
        }
        if (pool.stats().overdueWakes() != 0 && isUndisturbed()) {
            ledger.complain("a wake-up of a pool was lost: " + pool.stats());
        }
    }

    /** Each operation can be repeated if there was no memory for it. */
    private <T> T untilThereIsMemory(Supplier<T> operation) {
        for (int i = 0; ; i++) {
            try {
                return operation.get();
            } catch (OutOfMemoryError e) {
                if (i == TRIES) {
                    throw e;
                }
                ledger.refusals.incrementAndGet();
                LockSupport.parkNanos(10_000_000);
            }
        }
    }
}
