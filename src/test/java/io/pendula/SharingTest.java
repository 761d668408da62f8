package io.pendula;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SharingTest {
    private static final int WINDOW = Sharing.WINDOW;
    private static final long ALONE = 400;

    private final Sharing poller = new Sharing(2);
    private final Sharing helper = new Sharing(2);
    private long now = 1_000_000;
    private int own;
    private int pulse;

    /** What a timer takes the poller alone, where that is known. */
    private void measured(long nanos) {
        poller.ranAlone(WINDOW, WINDOW * nanos, now);
    }

    /** One window in which a timer takes so long on the average, if each of the two runs so many. */
    private boolean pays(int mine, int others, long nanos) {
        own += mine;
        pulse += 2 * others;
        now += nanos * (mine + others);
        return helper.pays(poller, own, pulse, now);
    }

    private void begin() {
        assertTrue(pays(WINDOW, WINDOW, 1), "a window has to begin");
    }

    @Test
    void pays_bothRunHardlyMoreThanOne_helperLeaves() {
        measured(ALONE);
        begin();
        assertFalse(pays(WINDOW, WINDOW, ALONE));
        assertFalse(pays(WINDOW, WINDOW, ALONE * 9 / 10));
    }

    @Test
    void pays_bothRunMoreThanOne_helperGoesOn() {
        measured(ALONE);
        begin();
        assertTrue(pays(WINDOW, WINDOW, ALONE * 3 / 4));
        assertTrue(pays(WINDOW, 2 * WINDOW, ALONE / 2));
    }

    @Test
    void pays_windowIsNotOver_helperGoesOn() {
        measured(ALONE);
        begin();
        assertTrue(pays(WINDOW - 1, WINDOW, ALONE));
        assertFalse(pays(1, WINDOW, ALONE), "it is counted from the window's begin");
    }

    @Test
    void pays_afterSleep_windowBeginsAnew() {
        measured(ALONE);
        begin();
        assertFalse(pays(WINDOW, WINDOW, ALONE));
        helper.wokeUp();
        own = 0;
        now += 1_000_000;
        begin();
        assertTrue(pays(WINDOW, WINDOW, ALONE / 2));
    }

    @Test
    void pays_longCallbacks_helperGoesOnWhateverThePollerTakes() {
        measured(ALONE);
        begin();
        assertTrue(pays(WINDOW, WINDOW, Sharing.LONG_NANOS));
    }

    @Test
    void pays_pollerIsInALongCallback_helperGoesOn() {
        measured(ALONE);
        begin();
        pulse++;
        assertTrue(pays(WINDOW, WINDOW / 4 - 1, ALONE));
    }

    /** The helper that takes the lock again and again lets nobody else have it. */
    @Test
    void pays_pollerWaitsForTheLock_helperLeaves() {
        measured(ALONE);
        begin();
        assertFalse(pays(WINDOW, WINDOW / 4 - 1, ALONE));
    }

    @Test
    void pays_notKnownWhatOneTakes_helperLeavesSoThatItIsMeasured() {
        begin();
        assertFalse(pays(WINDOW, WINDOW, ALONE / 2));
        measured(ALONE);
        assertTrue(pays(WINDOW, WINDOW, ALONE / 2));
        now += Sharing.VALID_NANOS;
        assertFalse(helper.pays(poller, own += 400_000, pulse += 800_000, now), "too old");
    }

    @Test
    void ranAlone_oneReadingIsFarTooLong_isBounded() {
        measured(ALONE);
        measured(1_000 * ALONE);
        begin();
        assertTrue(pays(WINDOW, WINDOW, ALONE));
        assertFalse(pays(WINDOW, WINDOW, ALONE * 5 / 4));
    }

    @Test
    void ranAlone_callbacksTakeLongerThanBefore_isLearned() {
        measured(ALONE);
        for (int i = 0; i < 10; i++) {
            measured(3 * ALONE);
        }
        begin();
        assertTrue(pays(WINDOW, WINDOW, 2 * ALONE));
        assertFalse(pays(WINDOW, WINDOW, 3 * ALONE));
    }

    @Test
    void needsHelp_aHelperHasLeft_notForAWhile() {
        long behind = 1_000_000;
        assertTrue(poller.needsHelp(behind, now));
        measured(ALONE);
        begin();
        assertFalse(pays(WINDOW, WINDOW, ALONE));
        assertFalse(poller.needsHelp(behind, now + Sharing.PAUSE_NANOS - 1));
        assertTrue(poller.needsHelp(behind, now + Sharing.PAUSE_NANOS));
    }

    @Test
    void needsHelp_shortCallbacks_onceUntilItSleeps() {
        assertFalse(poller.needsHelp(300_000, now));
        assertTrue(poller.needsHelp(300_001, now));
        poller.called();
        assertFalse(poller.needsHelp(300_001, now));
        poller.wokeUp();
        assertTrue(poller.needsHelp(300_001, now));
    }

    @Test
    void needsHelp_longCallbacks_soonerAndAgain() {
        poller.ran(8, 8 * Sharing.LONG_NANOS + 1);
        assertFalse(poller.needsHelp(20_000, now));
        assertTrue(poller.needsHelp(20_001, now));
        poller.called();
        assertTrue(poller.needsHelp(20_001, now));
        poller.ran(8, 8 * Sharing.LONG_NANOS);
        assertFalse(poller.needsHelp(20_001, now));
    }

    @Test
    void hasGotOn_tellsQueuesApart() {
        assertTrue(helper.hasGotOn(0, 2));
        assertTrue(helper.hasGotOn(1, 2));
        assertFalse(helper.hasGotOn(0, 2));
        assertTrue(helper.hasGotOn(1, 4));
        assertFalse(helper.hasGotOn(0, 2));
    }
}
