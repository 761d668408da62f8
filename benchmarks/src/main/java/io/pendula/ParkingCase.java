package io.pendula;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Pendula's two means to sleep precisely, each switched on and off, in the setting of the lateness case. */
final class ParkingCase implements Case {
    @Override
    public String name() {
        return "parking";
    }

    @Override
    public List<Map<String, String>> cells(boolean busy) {
        return Case.product("rate=100,1000,10000", "busy=false,true");
    }

    @Override
    public List<Subject> subjects() {
        List<Subject> subjects = new ArrayList<>();
        for (Map<String, String> s : Case.product("earlyPark=true,false", "tightSlack=true,false")) {
            subjects.add(new Subject((s.get("earlyPark").equals("true") ? "early park" : "plain park")
                    + (s.get("tightSlack").equals("true") ? " + tight slack" : " + default slack"), s));
        }
        return subjects;
    }

    @Override
    public List<String> ratios() {
        return List.of("p50_us", "cpu_us");
    }

    @Override
    public void run(Child child) throws Exception {
        LatenessCase.measure(child, SchedulerType.pendula(TimerScheduler.builder()
                .earlyPark(child.is("earlyPark")).tightSlack(child.is("tightSlack")).build()));
    }
}
