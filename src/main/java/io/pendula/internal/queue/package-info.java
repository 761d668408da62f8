/**
 * A timer's life: one queue, and the timers in it. Knows no scheduler and no thread that runs it. Time is an argument, but
 * for a ticker's next tick, a shortage of memory, a close and figures.
 * {@link io.pendula.internal.queue.TimerQueue} is where to begin.
 */
package io.pendula.internal.queue;

/*
 * Overview
 *
 * The thread that arms a timer pushes it to the Inbox. The owner of the queue drains the inbox (InboxDrainer): it drops
 * each timer that was stopped meanwhile, and files the others in the TimerHeap, a heap of blocks; a new entry goes to the
 * youngest block. When the timer is due, the owner or a helper claims it (DueTimers), runs it, and ends the run
 * (TimerQueue.endRun). Before the owner sleeps, it publishes at its WakeGate when it looks again; a thread that arms an
 * earlier timer calls it. A timer that is stopped or brought forward leaves a stale entry, which the Compactor has the TimerHeap
 * drop, block by block. The QueueCloser collects what is armed when the queue is closed.
 *
 * Ground rules
 *
 * 1. An armed timer that does not run is in one place: about to be pushed by the thread that armed it, in the inbox, in
 *    one of the lists of the InboxDrainer, or in the TimerHeap. There it has an entry whose key is its deadline
 *    (WAITING) or not later (MODIFIED_LATER). Any other entry is stale. It is dropped at the top, or by a sweep. No
 *    operation of a timer looks through all entries.
 * 2. A timer that is brought forward leaves its old entry behind, and may come back to that entry's key. So each entry
 *    has a number, and the timer notes that of the entry that was made last for it. That one is live while the timer is
 *    filed; all others of this timer are stale.
 * 3. The thread that makes an entry stale counts it, at that transition; a drain that counted later would meet some
 *    twice.
 * 4. The heap grows before a word changes, so running out of memory leaves each timer as it was. What it has
 *    no room for is parked, and is as good as in the inbox.
 * 5. No callback runs, and no thread is woken, while the lock is held.
 * 6. A thread that arms, stops or resets only tries the lock. There are three exceptions: a queue with a manual clock, a
 *    closed one, and one whose owner could not be woken (DueTimers.sleepsOn). Owners, a close, and readers of statistics
 *    may wait for the lock. A hold sweeps or copies one block of the heap at most. It files all that has
 *    arrived, and a claim cleans all due entries before its timer. Only a close may take longer.
 *
 * Who may touch what
 *
 * field        written by                            read by                          mode
 * node.word    anyone, by CAS                        anyone                           volatile
 * node.next    its pusher before the push; drain     drain                            plain, ordered by the inbox's CAS
 * node.entry   lock holder                           lock holder                      plain
 * node.task    constructor; after their CAS cancel,  before their CAS claim, stop,    plain
 *              abort and the end of a task           reset
 * Inbox
 *   head       pushers (CAS); drain, close (swap)    anyone                           volatile
 *   depth      pushers, drain                        arming threads                   lazySet, a hint
 *   arrivals   pushers (CAS); drain (CAS)            pushers, workers; under the lock volatile
 *                                                    a loop and the StallWatch
 * WakeGate
 *   lookAt     poller, under the lock of Standby; a  arming threads, owner            volatile
 *              loop, under the queue's or without;
 *              arming threads (CAS to AWAKE); close
 *   owner      who makes the queue; close            wakers, workers, monitor         volatile
 * Compactor
 *   counts     any thread that counts                any thread                       volatile read-modify-write
 *   bound, isUnderWay
 *              lock holder                           threads that make entries stale; volatile
 *                                                    the owner before it sleeps
 * HoldLock.scarce
 *              lock holder                           threads that arm or lock         volatile
 * InboxDrainer.unreported
 *              lock holder; owner (clears)           owner                            volatile
 * QueueCloser
 *   cells      resets, around a change and its push  close                            volatile read-modify-write
 *   closed     close                                 resets, owners                   volatile
 * DueTimers.nextWhen
 *              lock holder                           workers                          lazySet, see WakeGate
 * TimerQueue.awaiters, RunAwaiter.next
 *              threads that wait, under the monitor  ends of runs                     volatile
 *              of the queue
 * TimerQueue.resets, Compactor.foldedStops
 *              any thread                            any thread                       classes of java.util.concurrent
 * all else     lock holder                           lock holder; some as a hint      plain
 *
 * docs/internals/memory-modes.md has the hints, and an argument for each access that is weaker than volatile.
 *
 * Locks: a queue's lock is the innermost one; no thread holds two. The monitor of the TimerQueue, under which a thread enters what it waits with, is taken under
 * none of these. The argument why no wake-up is lost: WakeGate. How a close meets threads that arm: QueueCloser.
 */
